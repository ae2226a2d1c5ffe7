#pragma once
// The ring of a device: requests in, events out, on any backend. Bounded in requests and bytes; whatever waits goes to
// the device as soon as something comes back, so that its depth is kept without the caller.
//
//   while (has_more() && ring.submit(request)) {}
//   const std::size_t count = ring.poll(now_ns, events);   // one call a round of the owning agent
//
// Thread: the agent that owns it, for all calls. No allocation after construction.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "daemon/io/fixed_queue.h"
#include "daemon/io/io_backend.h"
#include "daemon/io/io_slots.h"
#include "daemon/io/io_stats.h"

namespace kvtier {

struct IoRingOptions {
  std::uint32_t requests_max = 256;              ///< accepted and not yet over
  std::uint64_t device_bytes_max = 64ULL << 20;  ///< in the device's hands; no request is larger
  std::uint32_t files_max = 64;
  std::uint32_t regions_max = 1024;
};

class IoRing {
 public:
  IoRing(std::unique_ptr<IoBackend> backend, const IoRingOptions& options);

  /// `fd` is borrowed until the place gets another one, or -1. `alignment`: of offsets, lengths and memory, a power
  /// of two; 1 without O_DIRECT. kBusy: a request of that place is not over; kInvalid: beyond the table.
  Status set_file(IoFile file, int fd, std::uint32_t alignment);
  /// The memory stays where it is until the place gets another one, or an empty span. As above.
  Status set_region(IoRegion region, std::span<std::byte> memory);

  /// Nothing: requests_max are not over, ask again after poll(). A request that names no file, memory outside its
  /// region, misaligned or too many bytes is a bug of the caller.
  [[nodiscard]] std::optional<IoId> submit(const IoRequest& request);
  /// Its result is kCancelled unless it is out already; a request that is over is left alone.
  void cancel(IoId id);

  /// One round: hands what waits to the device, takes what came back, ends what is late. Returns the events written.
  std::size_t poll(TimeNs now_ns, std::span<IoEvent> events);

  /// As IoBackend: what to sleep on, and until when.
  [[nodiscard]] int completion_fd() const { return backend_->completion_fd(); }
  [[nodiscard]] TimeNs next_deadline_ns() const;

  [[nodiscard]] const IoStats& stats() const { return stats_; }
  [[nodiscard]] std::uint32_t requests_count() const { return slots_.used_count(); }
  [[nodiscard]] std::uint32_t in_device_count() const { return in_device_count_; }
  [[nodiscard]] std::uint64_t in_device_bytes() const { return in_device_bytes_; }
  /// Of those, answered already: above 0 the device is slow or hangs.
  [[nodiscard]] std::uint32_t held_count() const { return held_count_; }
  [[nodiscard]] IoFacts facts() const { return backend_->facts(); }

 private:
  struct File {
    int fd = -1;
    std::uint32_t alignment = 1;
    std::uint32_t users = 0;  ///< requests that are not over
  };
  struct Region {
    std::span<std::byte> memory;
    std::uint32_t users = 0;
  };

  void check(const IoRequest& request) const;
  void count_users(const IoRequest& request, std::int32_t change);
  [[nodiscard]] bool has_room(const IoSlot& slot) const;
  void start_waiting(TimeNs now_ns);
  [[nodiscard]] bool start(std::uint32_t at);
  void reap(TimeNs now_ns);
  void complete(std::uint32_t at, std::int32_t result);
  void go_on(std::uint32_t at, std::int32_t result);
  void expire(TimeNs now_ns);
  void give_up(std::uint32_t at, IoOutcome outcome);
  void finish(std::uint32_t at, IoOutcome outcome, int error);
  void push_event(std::uint32_t at, IoOutcome outcome, int error);
  std::size_t deliver(std::span<IoEvent> events);

  // constant after construction
  const IoRingOptions options_;
  const std::unique_ptr<IoBackend> backend_;
  // owned by the agent
  std::vector<File> files_;
  std::vector<Region> regions_;
  IoSlots slots_;
  FixedQueue<IoEvent> events_;
  TimeNs first_deadline_ns_ = kNever;  ///< no request that is not answered has an earlier one
  std::uint32_t in_device_count_ = 0;
  std::uint64_t in_device_bytes_ = 0;
  std::uint32_t held_count_ = 0;
  IoStats stats_;
};

}  // namespace kvtier
