#pragma once
// Records of a channel's two rings and of its request arena. Layouts: WIRE.md, "Commands".
// The daemon copies a record out of the ring, checks the copy and uses the copy; arena ranges likewise.

#include <cstdint>
#include <type_traits>

#include "libkvclient/base/status.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class Op : std::uint16_t {
  kEcho = 1,     ///< answered at once; health checks and tests
  kReserve = 2,  ///< arena: ReserveHead, Key[count]; the daemon writes ReserveResult[count] behind them
  kCommit = 3,   ///< Hold[count], inline up to kInlineHolds, else in the arena
  kAbort = 4,    ///< as kCommit
  kWait = 5,     ///< arena: Key[count]; answered when none of them is pending any more, or at deadline_ns
  kCancel = 6,   ///< args[0]: request id of a kWait, which then ends with kDeadline. No answer of its own
  kPin =
      7,  ///< arena: Key[count]; args[0]: time to live in ns (1..kPinTtlNsMax). Renewing replaces the own expiry
  kUnpin = 8,  ///< arena: Key[count]
  kInvalidate =
      9,  ///< space: that space; SpaceId::kNone: the whole namespace. In every tier, pending stores included
  kStock = 10,  ///< count: slots of the space to have on offer in the stock (stock.h). No answer
  kRestore =
      11,  ///< arena: Key[count]: those that are on disk only are read into memory. Answered at once; kWait waits
  kSums =
      12,  ///< arena: SumEntry[count], which the daemon fills in; answered when no sum is missing, or at deadline_ns
  kSync =
      13,  ///< arena: Key[count]; count 0: all of the space. Answered when they are on disk for good, or cannot be
};

inline constexpr std::uint16_t kFlagReply = 1;  ///< kCommit, kAbort: answer when done (others always answer)
inline constexpr std::uint16_t kFlagAllOrNothing = 2;  ///< kReserve: all new blocks get a slot or none does

inline constexpr std::uint16_t kFlagDoubt =
    4;  ///< kSums: the client found these blocks wrong; answered when the daemon has summed them again

inline constexpr std::uint64_t kNoArena = ~std::uint64_t{0};
inline constexpr std::uint32_t kInlineHolds = 4;

/// Proof of a reservation: the daemon's block index and the low half of the slot's generation.
struct Hold {
  std::uint32_t block;
  std::uint32_t generation_low;
};

struct Submission {
  Op op;
  std::uint16_t flags;
  std::uint32_t request_id;
  SpaceId space;
  std::uint32_t count;
  std::uint64_t arena_offset;  ///< from the start of the arena, 8-byte aligned; kNoArena: none
  std::uint64_t deadline_ns;   ///< CLOCK_MONOTONIC; 0: none
  union {
    std::uint64_t args[4];
    Hold holds[kInlineHolds];
  };
};
static_assert(sizeof(Submission) == 64 && std::is_trivially_copyable_v<Submission>);

/// Why there was no space: the word in messages, counters and kvctl.
enum class Cause : std::uint8_t {
  kNone = 0,
  kTierFull = 1,  ///< nothing evictable is left
  kPinnedBy = 2,  ///< leases or pins hold the rest; `detail` is the pid that holds most
  kQuota = 3,     ///< the namespace's maximum is reached
  kWriterBusy =
      4,  ///< a process has reserved the slots, or was asked for slabs and has not answered; `detail` is its pid
  kRequestTooLarge = 5,  ///< more than the tier can ever hold
  kInvalidated = 6,      ///< with kStale: the space is being invalidated, or was after the reservation
  kIndexFull = 7,        ///< index.blocks_max is reached
  kWriteBudget = 8,      ///< kSync: nvme.write_budget_bytes_per_day is used up
  kDiskFull = 9,         ///< kSync: the NVMe tier had no room
};

/// Code of each inline hold of a kCommit or kAbort, hold 0 in the low byte: Completion::value.
using HoldCodes = std::uint64_t;
constexpr HoldCodes with_hold_code(HoldCodes codes, std::size_t hold, Code code) {
  return codes | static_cast<HoldCodes>(code) << (8 * hold);
}
constexpr Code hold_code(HoldCodes codes, std::size_t hold) {
  return static_cast<Code>(codes >> (8 * hold) & 0xff);
}

struct Completion {
  std::uint32_t request_id;
  Code code;
  Cause cause;
  std::uint16_t reserved;
  std::uint32_t count;   ///< kReserve: new blocks; kPin, kInvalidate: blocks concerned; kWait: keys ready;
                         ///< kRestore: keys that are ready or on their way; kSums: entries with a sum;
                         ///< kSync: blocks that are on disk for good
  std::uint32_t detail;  ///< with kPinnedBy, kWriterBusy: a pid
  std::uint64_t
      value;  ///< kCommit, kAbort: HoldCodes; then `code` is the first that is not kOk. kSync: blocks that are not
};
static_assert(sizeof(Completion) == 24 && std::is_trivially_copyable_v<Completion>);

/// First record of a kReserve request in the arena. Key i's parent is key i-1; the first one's is `parent`.
struct ReserveHead {
  Key parent;  ///< all zero: the first key begins a chain
};

struct ReserveResult {
  Code code;  ///< kOk: write it, then commit; kExists, kPending, kNoSpace, kInvalid
  Cause cause;
  std::uint16_t reserved;
  SlotRef slot;
  Hold hold;
  std::uint64_t generation;
};
static_assert(sizeof(ReserveResult) == 24 && std::is_trivially_copyable_v<ReserveResult>);

/// A block of the command's space, by its place in memory, and the sum of its bytes.
struct SumEntry {
  // the client
  Generation generation;
  SlotRef slot;
  // the daemon
  Code code;  ///< kOk: `sum` is there; kPending: it is not, yet; kNotFound: no such block (any more)
  std::uint8_t zero[3];
  std::uint64_t sum;  ///< checksum64 of the block's bytes as they were some time after the commit
};
static_assert(sizeof(SumEntry) == 24 && std::is_trivially_copyable_v<SumEntry>);

/// Bytes of a kReserve request in the arena, results included.
constexpr std::uint64_t reserve_request_bytes(std::uint32_t count) {
  return sizeof(ReserveHead) + std::uint64_t{count} * (sizeof(Key) + sizeof(ReserveResult));
}
constexpr std::uint64_t reserve_results_offset(std::uint32_t count) {
  return sizeof(ReserveHead) + std::uint64_t{count} * sizeof(Key);
}

}  // namespace kvtier
