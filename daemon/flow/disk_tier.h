#pragma once
// What the store holds only beside an NVMe tier: its end of the port, what is under way there, where copies lie. All
// memory is taken at start; what is not used is not touched. Thread: the conductor.

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/flow/disk_orphans.h"
#include "daemon/flow/disk_outbox.h"
#include "daemon/flow/restore_table.h"
#include "daemon/flow/save_queue.h"
#include "daemon/model/block_table.h"

namespace kvtier {

/// Puts that are not answered yet: what keeps a device busy, and no more than can be waited for.
inline constexpr std::uint32_t kPutsOpenMax = 1024;
inline constexpr std::uint64_t kPutBytesMax = std::uint64_t{128} << 20;
/// Commands decided and not sent, and places kept for answers to reclaim's questions: so many are open at most.
inline constexpr std::size_t kDiskOutboxMax = 1024;
inline constexpr std::size_t kDiskAnswersMax = kDiskGroupMax;

/// What a tag of ours stands for: the kind in the top byte, a number below.
enum class DiskTag : std::uint8_t { kPut = 1, kGet = 2, kMark = 3, kSync = 4 };
constexpr std::uint64_t make_tag(DiskTag kind, std::uint64_t number) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << 56 | number;
}
constexpr DiskTag tag_kind(std::uint64_t tag) {
  return static_cast<DiskTag>(tag >> 56);
}
constexpr std::uint64_t tag_number(std::uint64_t tag) {
  return tag & ((std::uint64_t{1} << 56) - 1);
}

struct DiskTier {
  /// Is it open? kShut: disk_open() was not called, or slabs and spaces are still being told.
  enum class Life : std::uint8_t { kShut, kOpening, kReady, kClosing, kClosed, kRefused };
  enum class SlabUse : std::uint8_t { kUnknown, kAdded, kRemoving, kRemoved };

  DiskTier(DiskPort& given, std::uint32_t blocks_max, std::uint64_t seed, bool writes_through);
  DiskTier(const DiskTier&) = delete;
  DiskTier& operator=(const DiskTier&) = delete;

  DiskPort& port;
  Life life = Life::kShut;
  bool is_open_wanted = false;
  bool is_close_wanted = false;
  std::vector<SlabUse> slabs;       ///< by SlabIndex; made when the first step comes
  std::uint32_t slabs_unknown = 0;  ///< of them, those to be told
  bool is_removal_due = false;      ///< a slab is to be taken away, and there was no room to say so
  std::uint32_t spaces_untold = 0;  ///< spaces of all namespaces that kSpace was not sent for
  std::vector<DiskLocator>
      locators;                      ///< by BlockId, as far as records have pages; of those with kBlockOnDisk
  std::uint64_t index_reserved = 0;  ///< entries that the key index was asked to have
  DiskOutbox outbox;
  std::vector<DiskLocator> forgets;  ///< named by nobody, to be said; in no order

  std::uint32_t puts_open = 0;
  std::uint64_t put_bytes = 0;
  TimeNs puts_heard_ns = 0;    ///< one was answered well then, or the first of those that are open was sent
  TimeNs puts_again_ns = 0;    ///< a put failed: none before then
  TimeNs puts_pause_ns = 0;    ///< how long the last one made us wait
  bool is_waited_for = false;  ///< a reservation waits for a put: what is cold is looked at, whatever is free
  SaveQueue committed;         ///< write-through: not saved yet, oldest first
  RestoreTable restores;

  DiskOrphans orphans;
  std::uint64_t next_mark = 0;
  std::uint64_t sequence_max = 0;  ///< of the copies that were told of
  std::uint64_t unsure_to = 0;     ///< up to this one a flush that failed may have lost them
};

}  // namespace kvtier
