#pragma once
// A device with faults around a real one: the next operations, or some of all, fail, come out short, late, damaged,
// out of order, or never. Seeded.

#include <memory>
#include <optional>
#include <vector>

#include "daemon/io/io_backend.h"
#include "libkvclient/base/prng.h"

namespace kvtier::test {

enum class IoFault : std::uint8_t {
  kFail,     ///< with `error`; the device is not asked
  kShorten,  ///< only the first `bytes` move
  kDelay,    ///< reaches the device `delay_ns` later
  kStall,    ///< reaches the device at thaw()
  kCorrupt,  ///< one bit of what is read, or of what lands on the device, is another
  kDrop,     ///< done, and never reported
  kReorder   ///< operations of one batch reach the device, and completions come back, in another order
};

struct FaultRule {
  IoFault fault = IoFault::kFail;
  std::uint32_t count = 1;     ///< operations; with a chance: without end
  std::optional<IoKind> only;  ///< the others pass
  int error = 5;               ///< EIO
  std::uint32_t bytes = 4096;
  TimeNs delay_ns = kNsPerMs;
  /// Of a file: only operations that touch something from `begin` to before `end`.
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};
};

class FaultyBackend final : public IoBackend {
 public:
  FaultyBackend(std::unique_ptr<IoBackend> real, std::uint64_t seed)
      : real_(std::move(real)), chance_(seed) {}

  /// For the next operations; several rules are used up one after the other.
  void next(const FaultRule& rule) { rules_.push_back(rule); }
  /// For each operation that no rule of next() takes, from now on.
  void sometimes(const FaultRule& rule, double probability) { chances_.push_back({rule, probability}); }
  /// Stalled operations go on with the next flush.
  void thaw();
  [[nodiscard]] std::size_t stalled_count() const;
  [[nodiscard]] std::uint64_t injected_count() const { return injected_count_; }

  Status set_file(IoFile file, int fd) override { return real_->set_file(file, fd); }
  Status set_region(IoRegion region, std::span<std::byte> memory) override {
    return real_->set_region(region, memory);
  }
  bool start(const IoOperation& operation) override;
  void flush(TimeNs now_ns) override;
  std::size_t reap(TimeNs now_ns, std::span<IoCompletion> completions) override;
  void cancel(std::uint32_t slot) override;
  [[nodiscard]] int completion_fd() const override { return real_->completion_fd(); }
  [[nodiscard]] TimeNs next_deadline_ns() const override;
  [[nodiscard]] std::uint32_t depth() const override { return real_->depth(); }
  [[nodiscard]] IoFacts facts() const override { return real_->facts(); }

 private:
  struct Held {
    IoOperation operation;
    TimeNs delay_ns = 0;  ///< kNever: stalled
    TimeNs due_ns = 0;    ///< 0: not flushed yet
  };
  struct Marked {
    IoOperation operation;
    IoFault fault;
    std::unique_ptr<std::byte[]> memory;  ///< a damaged copy of what is written
  };
  struct Chance {
    FaultRule rule;
    double probability;
  };

  std::optional<FaultRule> fault_for(const IoOperation& operation);
  bool start_with(const FaultRule& rule, const IoOperation& operation);
  bool start_damaged(const IoOperation& operation);
  bool pass_on(const IoCompletion& completion);
  void damage(std::byte* data, std::size_t bytes);

  const std::unique_ptr<IoBackend> real_;
  Prng chance_;
  std::vector<FaultRule> rules_;
  std::vector<Chance> chances_;
  std::vector<Held> held_;
  std::vector<Marked> marked_;  ///< with the device, and something is to happen to their completion
  std::vector<IoCompletion> made_up_;
  bool is_reordering_ = false;
  std::uint64_t injected_count_ = 0;
};

}  // namespace kvtier::test
