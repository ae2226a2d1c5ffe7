#pragma once
// What the daemon knows of one block. 96 bytes in the block table's memfd, so that it survives the daemon.

#include <cstdint>
#include <type_traits>

#include "daemon/model/ids.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class BlockState : std::uint8_t {
  kFree = 0,         ///< the record is on the free list
  kWriting = 1,      ///< reserved; its writer fills the slot
  kReady = 2,        ///< published
  kEvicting = 3,     ///< ready, its slot word says evicting while pins are read
  kDraining = 4,     ///< unpublished, leases keep the slot
  kQuarantined = 5,  ///< unpublished, its writer may still write: until that process exits
  kStocked = 6,      ///< a slot in its writer's stock, without a key
  kCold = 7,         ///< on disk only: it has no slot
  kRestoring = 8,    ///< a slot was taken for it and is being read from disk
};
inline constexpr std::size_t kBlockStateCount = 9;

/// The only changes of state there are; BlockTable::set_state checks each.
constexpr bool is_legal_transition(BlockState from, BlockState to) {
  using S = BlockState;
  switch (from) {
    case S::kFree:
      return to == S::kWriting || to == S::kStocked || to == S::kCold;
    case S::kStocked:
      return to == S::kWriting || to == S::kQuarantined || to == S::kFree;
    case S::kWriting:
      return to == S::kReady || to == S::kQuarantined || to == S::kFree;
    case S::kReady:
      return to == S::kEvicting;
    case S::kEvicting:
      return to == S::kReady || to == S::kDraining || to == S::kFree || to == S::kCold;
    case S::kDraining:
    case S::kQuarantined:
      return to == S::kFree;
    case S::kCold:
      return to == S::kRestoring || to == S::kFree;
    case S::kRestoring:
      return to == S::kReady || to == S::kCold || to == S::kFree;
  }
  return false;
}

inline constexpr std::uint16_t kNoWriter = 0xffff;

inline constexpr std::uint16_t kBlockSummed = 1;  ///< checksum is valid
inline constexpr std::uint16_t kBlockPinned = 2;  ///< kPin holds it: not evictable
inline constexpr std::uint16_t kBlockBusy = 4;    ///< a background agent reads it: not evictable
inline constexpr std::uint16_t kBlockUnverified =
    16;  ///< adopted: not visible before its checksum was found right
inline constexpr std::uint16_t kBlockQueued = 8;       ///< waits for its checksum
inline constexpr std::uint16_t kBlockPassedOver = 32;  ///< within an eviction pass: it has children that stay
inline constexpr std::uint16_t kBlockChildPassedOver = 64;  ///< within an eviction pass: so has one of those
inline constexpr std::uint16_t kBlockJustReserved = 128;    ///< within a reserve call: it is that call's own
inline constexpr std::uint16_t kBlockOnDisk = 256;          ///< a copy is on disk, at the block's locator
inline constexpr std::uint16_t kBlockStoring =
    512;  ///< it is being written to disk, or its slot is held for that: not evictable
inline constexpr std::uint16_t kBlockWanted =
    1024;  ///< within a restore call: it is one of its keys, and stays
inline constexpr std::uint16_t kBlockNamed =
    8192;  ///< within a reserve call: it names this one, which is not lost for its sake
inline constexpr std::uint16_t kBlockDoubtful =
    2048;  ///< cold, and its copy could not be read when it was last tried
inline constexpr std::uint16_t kBlockOrphan =
    4096;  ///< cold: waits in the list of those whose parent is not known

inline constexpr std::uint16_t kBlockUsed =
    16384;  ///< acquired, or restored, since its copy on disk was written or moved

inline constexpr std::uint16_t kBlockSuspect =
    32768;  ///< a client found its bytes wrong: to be summed again; cold: its bytes in memory were wrong

struct BlockRecord {
  Key key;
  Generation generation;   ///< of the host slot
  std::uint64_t checksum;  ///< XXH3 of the payload, if kBlockSummed
  SlotRef slot;            ///< nothing while cold
  SpaceId space;
  std::uint16_t tenant;  ///< namespace
  BlockState state;
  std::uint8_t stock_entry;  ///< while stocked: its place in its writer's stock
  std::uint16_t flags;
  std::uint16_t writer;  ///< session index while writing or quarantined; kNoWriter
  BlockId parent;
  BlockId first_child;
  BlockId next_sibling;
  BlockId prev_sibling;  ///< of the first child: the last one
  BlockId
      prev;  ///< links of the one list that the block is on: its evictor's (colder), its writer's, or that of cold ones
  BlockId next;
  std::uint32_t access_ms;  ///< last access, milliseconds of the monotonic clock (wraps after 49 days)
  std::uint32_t hits;
};
static_assert(sizeof(BlockRecord) == 96 && std::is_trivially_copyable_v<BlockRecord>);

}  // namespace kvtier
