#pragma once
// Whether a block that leaves memory is worth a write: evidence of use against what the budget still has. Pure: facts
// and time come from the caller.

#include <cstdint>

#include "daemon/disk/write_budget.h"

namespace kvtier {

struct AdmissionFacts {
  std::uint64_t bytes = 0;
  std::uint32_t hits = 0;      ///< of the block, in memory
  bool has_hot_child = false;  ///< a block below it in its prefix is on disk, or was admitted
  bool is_retained = false;    ///< a client asked for it to be kept
};

struct AdmissionOptions {
  std::uint32_t hits_min = 1;       ///< with a full budget
  std::uint32_t hits_when_low = 3;  ///< below `low_percent` of the burst
  std::uint32_t low_percent = 25;
  WriteBudgetOptions budget;
};

enum class Admission : std::uint8_t { kAdmitted, kTooCold, kOverBudget };

class DiskAdmission {
 public:
  explicit DiskAdmission(const AdmissionOptions& options) : options_(options), budget_(options.budget) {}

  /// Takes the bytes from the budget where it says yes. A parent is admitted with its child: without it the child
  /// cannot be reached.
  [[nodiscard]] Admission admit(const AdmissionFacts& facts, TimeNs now_ns);
  [[nodiscard]] const WriteBudget& budget() const { return budget_; }

 private:
  [[nodiscard]] std::uint32_t hits_needed(TimeNs now_ns);

  const AdmissionOptions options_;
  WriteBudget budget_;
};

}  // namespace kvtier
