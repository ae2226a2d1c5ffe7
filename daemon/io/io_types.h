#pragma once
// What a ring of the NVMe tier is asked and what it answers. Trivially copyable, no owner of anything.

#include <cstddef>
#include <cstdint>

#include "libkvclient/base/clock.h"

namespace kvtier {

enum class IoKind : std::uint8_t {
  kRead,
  kWrite,
  kSync  ///< fdatasync: covers the writes whose result was delivered before the sync was submitted, no others
};

/// A place in the ring's table of files.
enum class IoFile : std::uint32_t {};
/// A place in the ring's table of memory: one a host slab.
enum class IoRegion : std::uint32_t { kNone = 0xffffffff };

struct IoRequest {
  IoKind kind = IoKind::kRead;
  IoFile file{};
  IoRegion region = IoRegion::kNone;  ///< that `data` lies in; unused by a sync
  std::uint32_t bytes = 0;            ///< 0 for a sync
  std::uint64_t offset = 0;           ///< in the file
  std::byte* data = nullptr;
  TimeNs deadline_ns = kNever;  ///< by when there is a result, whatever the device does
  std::uint64_t tag = 0;        ///< the caller's, given back with each event
};

/// Names a request in its ring; never reused for another one.
struct IoId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const IoId&, const IoId&) = default;
};

enum class IoOutcome : std::uint8_t {
  kDone,       ///< all bytes moved
  kEndOfFile,  ///< a read ended early: the file has no more than `bytes` of it
  kFailed,     ///< `error` says why; nothing is known about the bytes
  kDeadline,   ///< the deadline passed; nothing is known about the bytes
  kCancelled,  ///< somebody cancelled it; nothing is known about the bytes
  kReleased    ///< no result: the device gave back what an event with is_held left in its hands
};

/// Each request ends with exactly one event other than kReleased.
struct IoEvent {
  IoId id;
  IoOutcome outcome = IoOutcome::kDone;
  /// The device may still read or write the memory and the file's bytes: neither may be reused before the event
  /// kReleased of the same id, which comes exactly once. Only with kDeadline and kCancelled.
  bool is_held = false;
  int error = 0;            ///< errno, positive
  std::uint32_t bytes = 0;  ///< moved, as far as it is known
  IoRequest request;        ///< as it was submitted
};

}  // namespace kvtier
