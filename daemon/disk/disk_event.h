#pragma once
// What a store answers and tells, as data: its owner polls them. Each put, get, flush and mark ends with exactly one
// event other than kReleased.

#include "daemon/disk/disk_types.h"
#include "daemon/io/fixed_queue.h"
#include "libkvclient/base/status.h"

namespace kvtier {

enum class DiskEventKind : std::uint8_t {
  kPut,       ///< kOk: readable at `locator`, and durable with the next flush; else nothing was stored
  kGet,       ///< kOk: every byte is right; else a miss with its cause
  kReleased,  ///< the memory of the event with is_held and this tag is the caller's again
  kFlushed,   ///< kOk: durable, all that was answered kPut before the flush was asked for
  kMarked,    ///< kOk: durable
  kEntry,  ///< recovery: a block that is there. Of two with one key the higher sequence counts, the other is forgotten
  kProgress,  ///< recovery: `done` of `total` steps
  kReady,     ///< takes work
  kRefused,   ///< will not open: status() says why. Nothing was written
  kAsk,       ///< reclaim: questions() wait for answer()
  kMoved,     ///< reclaim: a copy lies at `locator`; who does not name `old` any more forgets `locator`
  /// What is at `old` goes away (reclaim), or is bad (scrub: `code`, `fault`): forget it, if it is named. With kSystem the
  /// scrub could not read it: whoever names it may let it be read once more.
  kDropped,
  kPath,    ///< a path's state is another: path_state()
  kClosed,  ///< kOk: every segment is sealed and the end noted
};

struct DiskEvent {
  DiskEventKind kind = DiskEventKind::kProgress;
  /// Misses: kStale (the segment was used anew), kCorrupt (`fault`), kSystem (an I/O error: the owner says how often it asks), kDeadline, kUnavailable.
  Code code = Code::kOk;
  DiskFault fault = DiskFault::kNone;
  bool is_held = false;     ///< the device still has the memory: kReleased follows
  bool is_dropped = false;  ///< a get: the copy is gone for good: forget `locator` and whoever names it
  std::uint8_t path = 0;
  std::uint64_t tag = 0;
  DiskLocator locator;
  DiskLocator old;
  DiskKey key;
  Key parent{};
  std::uint64_t born = 0;
  std::uint64_t created_ns = 0;
  std::uint32_t block_bytes = 0;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
};

/// Bounded. Whoever will have to push later reserves a place when the work is taken, so that an answer always fits.
class DiskEvents {
 public:
  explicit DiskEvents(std::size_t capacity) : queue_(capacity), capacity_(capacity) {}

  [[nodiscard]] bool has_room(std::size_t count) const {
    return queue_.size() + reserved_ + count <= capacity_;
  }
  [[nodiscard]] bool reserve(std::size_t count) {
    if (!has_room(count)) return false;
    reserved_ += count;
    return true;
  }
  void release(std::size_t count) {
    KV_CHECK(count <= reserved_, "only reserved places are given back");
    reserved_ -= count;
  }
  /// Into a place that was reserved.
  void push_reserved(const DiskEvent& event) {
    release(1);
    queue_.push(event);
  }
  void push(const DiskEvent& event) { queue_.push(event); }

  [[nodiscard]] bool is_empty() const { return queue_.is_empty(); }
  DiskEvent pop() { return queue_.pop(); }

 private:
  FixedQueue<DiskEvent> queue_;
  const std::size_t capacity_;
  std::size_t reserved_ = 0;
};

}  // namespace kvtier
