#pragma once
// A file written and read at full speed for a while, through a ring of daemon/io.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "daemon/io/io_ring.h"
#include "daemon/io/ring_waiter.h"
#include "libkvclient/base/prng.h"

namespace kvtier::ctl {

/// Throws the Failure that says it, with an exit status for scripts.
[[noreturn]] void fail_probe(const Status& status);

enum class TrialPages : std::uint8_t { kThere, kFresh /**< come with the first touch */ };

/// Anonymous memory of its own.
class TrialMemory {
 public:
  TrialMemory(std::uint64_t bytes, TrialPages pages);
  TrialMemory(const TrialMemory&) = delete;
  TrialMemory& operator=(const TrialMemory&) = delete;
  ~TrialMemory();
  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

class DiskTrial {
 public:
  /// The most that one request has, and that all of them have together.
  static constexpr std::uint64_t kMemoryBytes = 32ULL << 20;

  /// `fd` is borrowed. The file grows to `bytes_max` at most.
  DiskTrial(int fd, std::uint32_t alignment, std::uint64_t bytes_max);

  /// Bytes a second. `depth` times `block_bytes` fit into kMemoryBytes; the first run of all writes.
  std::uint64_t run(IoKind kind, std::uint32_t block_bytes, std::uint32_t depth, TimeNs time_ns);
  [[nodiscard]] std::uint64_t written_bytes() const { return written_bytes_; }
  [[nodiscard]] std::uint32_t depth() const { return depth_; }

 private:
  void submit(IoKind kind, std::uint32_t block_bytes, std::uint32_t slot);
  [[nodiscard]] std::uint64_t next_offset(IoKind kind, std::uint32_t block_bytes);
  std::uint64_t take_events();
  void sync();

  const std::uint64_t bytes_max_;
  SystemClock clock_;
  Prng chance_{1};
  TrialMemory memory_{kMemoryBytes, TrialPages::kThere};
  std::unique_ptr<IoRing> ring_;  ///< goes before the memory
  std::unique_ptr<RingWaiter> waiter_;
  std::uint32_t depth_ = 0;
  std::vector<std::uint32_t> free_slots_;
  std::uint64_t next_write_ = 0;
  std::uint64_t written_bytes_ = 0;
};

}  // namespace kvtier::ctl
