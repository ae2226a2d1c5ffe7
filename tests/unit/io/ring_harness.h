#pragma once
// A ring with a file and two regions of memory, and the agent around it: one thread, time by hand. It waits for the
// kernel on the ring's descriptor and for time by moving it.

#include <optional>
#include <set>
#include <vector>

#include "daemon/io/io_ring.h"
#include "libkvclient/wire/shm_segment.h"
#include "tests/unit/io/io_cases.h"

namespace kvtier::test {

class RingHarness {
 public:
  static constexpr std::uint64_t kRegionBytes = 4 << 20;
  static constexpr IoRegion kSource{0};
  static constexpr IoRegion kTarget{1};

  RingHarness(IoUnderTest under, const IoRingOptions& options);

  IoRing& ring() { return *ring_; }
  /// Destroys it; the memory stays.
  void close() { ring_.reset(); }
  ManualClock& clock() { return clock_; }
  [[nodiscard]] int fd() const { return under_.fd; }
  [[nodiscard]] std::span<std::byte> memory(IoRegion region) const;

  /// At the same offset of file and region.
  [[nodiscard]] IoRequest request(IoKind kind, std::uint64_t offset, std::uint32_t bytes) const;
  /// Polls until there is room.
  IoId submit(const IoRequest& request);
  /// `offset`, or the next one of a block that no request reads into: requests share no memory.
  [[nodiscard]] std::uint64_t unused(std::uint64_t offset, std::uint32_t bytes) const;
  /// One round; events are recorded.
  std::size_t poll();
  void wait();
  /// The ring asks to be polled.
  [[nodiscard]] bool is_woken() const;
  /// Until every request is over.
  void finish();

  [[nodiscard]] const std::vector<IoEvent>& events() const { return events_; }
  /// The only event, other than kReleased, of a request; reports with EXPECT if it is not the only one.
  [[nodiscard]] IoEvent result(IoId id) const;
  /// submit, finish, result
  IoEvent run(const IoRequest& request);

 private:
  ManualClock clock_;
  IoUnderTest under_;
  ShmMapping memory_[2];
  std::unique_ptr<IoRing> ring_;
  std::vector<IoEvent> events_;
  std::set<std::uint64_t> offsets_;  ///< of requests that are not over
};

/// Bytes that tell by whom they were written.
void fill(std::span<std::byte> memory, std::uint64_t seed);

}  // namespace kvtier::test
