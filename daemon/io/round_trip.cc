#include "daemon/io/round_trip.h"

#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "daemon/io/io_ring.h"
#include "daemon/io/io_status.h"
#include "daemon/io/ring_waiter.h"
#include "libkvclient/base/entropy.h"
#include "libkvclient/base/prng.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr TimeNs kDeadlineNs = 30 * kNsPerSecond;

/// Room for two blocks at any address that is tried: aligned to twice the largest alignment and no further off.
class Memory {
 public:
  static constexpr std::size_t kBytes = 6 * std::size_t{kRoundTripBytesMax};

  Memory() : mapped_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (is_mapped()) ::munmap(mapped_, kBytes);
  }
  [[nodiscard]] bool is_mapped() const { return mapped_ != MAP_FAILED; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {static_cast<std::byte*>(mapped_), kBytes}; }
  /// Addresses that are multiples of `alignment` and of nothing larger.
  [[nodiscard]] std::byte* block(std::uint32_t alignment, bool is_second) const {
    const auto start = reinterpret_cast<std::uintptr_t>(mapped_);
    const std::uint64_t base = round_up(start, 2 * std::uint64_t{kRoundTripBytesMax}) - start;
    return bytes().data() + base + alignment + (is_second ? 2 * std::size_t{kRoundTripBytesMax} : 0);
  }

 private:
  void* const mapped_;
};

Status run(IoRing& ring, RingWaiter& waiter, IoRequest request) {
  const SystemClock clock;
  request.deadline_ns = clock.now_ns() + kDeadlineNs;
  KV_CHECK(ring.submit(request).has_value(), "a new ring has room");
  std::array<IoEvent, 1> events;
  while (ring.poll(clock.now_ns(), events) == 0) waiter.wait(clock.now_ns(), kNever);
  if (events[0].outcome == IoOutcome::kDone) return Status::ok();
  return io_event_status(events[0]);
}

void fill(std::byte* block, std::uint32_t bytes) {
  Prng chance(entropy64());
  for (std::uint32_t i = 0; i < bytes; ++i) block[i] = static_cast<std::byte>(chance.next());
}

Status write_and_read(IoRing& ring, const Memory& memory, const RoundTrip& options) {
  Result<std::unique_ptr<RingWaiter>> waiter = RingWaiter::create(ring);
  if (!waiter.is_ok()) return waiter.status();
  const std::uint32_t bytes =
      options.alignment == 1 ? static_cast<std::uint32_t>(kPageBytes) : options.alignment;
  IoRequest request{
      .kind = IoKind::kWrite, .region = IoRegion{0}, .bytes = bytes, .offset = options.alignment};
  std::byte* const written = request.data = memory.block(options.alignment, false);
  fill(written, bytes);
  KV_RETURN_IF_ERROR(run(ring, *waiter.value(), request));
  request.kind = IoKind::kRead;
  request.data = memory.block(options.alignment, true);
  KV_RETURN_IF_ERROR(run(ring, *waiter.value(), request));
  if (std::memcmp(written, request.data, bytes) == 0) return Status::ok();
  return {Code::kCorrupt, "the bytes that were read are not those that were written before"};
}

}  // namespace

// The ring goes before the memory that its device may still use.
Result<IoFacts> round_trip(std::unique_ptr<IoBackend> backend, const RoundTrip& options) {
  const Memory memory;
  if (!memory.is_mapped()) return Status::from_errno("mmap of memory for a probe", errno);
  IoRing ring(std::move(backend), {.requests_max = 2, .files_max = 1, .regions_max = 1});
  KV_RETURN_IF_ERROR(ring.set_file(IoFile{0}, options.fd, options.alignment));
  KV_RETURN_IF_ERROR(ring.set_region(IoRegion{0}, memory.bytes()));
  KV_RETURN_IF_ERROR(write_and_read(ring, memory, options));
  return ring.facts();
}

}  // namespace kvtier
