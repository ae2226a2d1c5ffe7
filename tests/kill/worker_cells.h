#pragma once
// What worker processes report, in one mapped file: each worker writes its own cell, so that figures outlive
// a kill -9 of the writer. The driver writes `orders` only.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "tests/kill/latency_counts.h"

namespace kvtier::kill {

inline constexpr std::uint32_t kWorkersMax = 16;

/// Timed calls. kControl is no call: a fixed piece of computing, timed the same way, which shows what the
/// machine's scheduler alone does to a call.
enum class Verb : std::uint8_t {
  kOpen,
  kRegister,
  kMatch,
  kAcquire,
  kRelease,
  kReserve,
  kCommit,
  kAbort,
  kWait,
  kPin,
  kUnpin,
  kControl,
  kCount
};
inline constexpr std::size_t kVerbs = static_cast<std::size_t>(Verb::kCount);
inline constexpr std::array<const char*, kVerbs> kVerbNames = {"open",    "register", "match",  "acquire",
                                                               "release", "reserve",  "commit", "abort",
                                                               "wait",    "pin",      "unpin",  "control"};

/// A call of the load: opening and registering come before it.
constexpr bool is_call(Verb verb) {
  return verb != Verb::kControl && verb != Verb::kOpen && verb != Verb::kRegister;
}

/// The call that was the worst of its kind. Read when its worker has ended.
struct WorstCall {
  std::atomic<std::uint64_t> excess_ns;  ///< what it was the worst by
  std::atomic<std::uint64_t> begin_ns;
  std::atomic<std::uint64_t> took_ns;
  std::atomic<std::uint64_t> verb;
};

/// Counters have one writer, the worker; it uses relaxed stores.
struct WorkerCell {
  std::array<std::array<std::atomic<std::uint64_t>, kLatencySteps>, kVerbs> latencies;
  std::array<std::atomic<std::uint64_t>, kVerbs> max_ns;
  WorstCall longest;  ///< of is_call()
  WorstCall latest;   ///< the one that went furthest beyond its deadline
  std::atomic<std::uint64_t> rounds;
  std::atomic<std::uint64_t> blocks_checked;  ///< acquired, every byte compared
  std::atomic<std::uint64_t> blocks_rechecked;
  std::atomic<std::uint64_t> blocks_committed;
  std::atomic<std::uint64_t> commits_stale;  ///< of an earlier session, refused as they must be
  std::atomic<std::uint64_t> unavailable;
  std::atomic<std::uint64_t> deadlines;
  std::atomic<std::uint64_t> wrong_blocks;
  std::atomic<std::uint64_t> unexpected_codes;
  std::atomic<std::uint32_t> is_running;  ///< inside its loop
  std::atomic<std::uint32_t> is_paused;   ///< holds nothing, touches nothing
  char first_error[256];
};

struct Orders {
  std::atomic<std::uint32_t> pause;
  std::atomic<std::uint32_t> stop;
};

struct Cells {
  Orders orders;
  WorkerCell workers[kWorkersMax];
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The mapping; shared by driver and workers.
class CellsFile {
 public:
  static CellsFile create(const std::string& path);
  static CellsFile open(const std::string& path);
  CellsFile(CellsFile&& other) noexcept : cells_(std::exchange(other.cells_, nullptr)) {}
  CellsFile& operator=(CellsFile&&) = delete;
  ~CellsFile();

  [[nodiscard]] Cells& get() const { return *cells_; }

 private:
  explicit CellsFile(Cells* cells) : cells_(cells) {}
  Cells* cells_;
};

inline void raise_to(std::atomic<std::uint64_t>& cell, std::uint64_t value) {
  if (value > cell.load(std::memory_order_relaxed)) cell.store(value, std::memory_order_relaxed);
}
inline void add_to(std::atomic<std::uint64_t>& cell, std::uint64_t value = 1) {
  cell.store(cell.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

}  // namespace kvtier::kill
