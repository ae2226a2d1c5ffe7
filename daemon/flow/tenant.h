#pragma once
// A namespace as the store knows it: its specs, its slot classes, its slabs. Thread: the conductor.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/flow/directory.h"
#include "daemon/model/block_table.h"
#include "daemon/policy/evictor.h"
#include "daemon/tier/disk_command.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/wire/commands.h"
#include "libkvclient/wire/spec.h"

namespace kvtier {

/// A registered spec. Its id is its place in Tenant::spaces plus one.
struct Space {
  Digest digest{};
  std::vector<std::byte> encoding;
  Spec spec;
  std::uint64_t block_bytes = 0;
  std::uint32_t slot_class = 0;  ///< place in Tenant::classes
  std::uint64_t blocks = 0;      ///< records of this space that are not free
  bool is_invalidated = false;   ///< its blocks are leaving; it takes no new ones until they are gone
  std::shared_ptr<const DiskSpace> described;  ///< for the NVMe tier; null: there is none
  bool is_told = false;                        ///< kSpace went before all else of it
  bool is_unsavable = false;                   ///< the tier said that such blocks are no blocks of its
};

/// An attempt to empty a slab of a class that found none that could be (emptying.h).
struct EmptyingRefusal {
  Cause cause = Cause::kNone;  ///< kPinnedBy or kWriterBusy, kNone: nobody is to blame
  std::uint32_t pid = 0;   ///< who keeps most of the slabs, or a client that closed and pins some; 0: unknown
  std::uint32_t kept = 0;  ///< slabs that it keeps, of
  std::uint32_t tried = 0;  ///< so many
  TimeNs since_ns = 0;      ///< the first of attempts that failed one after another
  TimeNs at_ns = 0;         ///< the last one
  TimeNs again_ns = 0;      ///< not tried again before then
};

/// Where the search for blocks at the cold end that are not on disk yet is (demote.h); its place is the evictor's mark.
struct SavingScan {
  bool is_due = false;     ///< the cold end may be another one than at the last scan
  std::uint32_t left = 0;  ///< blocks to be looked at; 0: no scan is under way
  std::uint32_t retries =
      0;  ///< scans that puts which fail may still make due, before somebody needs slots again
};

/// The cold end as the last pass for clean blocks left it (evict.h).
struct BarrenEnd {
  std::uint32_t unsaved = 0;  ///< blocks not on disk that were in its way; 0: it may find some
  SessionIndex session = SessionIndex::kNone;  ///< in slabs of this one; kNone: of all
};

/// All slabs of a namespace with one slot size, and the order in which their blocks leave.
struct SlotClass {
  std::uint64_t slot_bytes = 0;
  std::unique_ptr<Evictor> evictor;
  std::vector<SlabIndex> slabs;
  std::vector<SlabIndex> with_free;  ///< slabs that have a free slot, in no order
  std::uint64_t slots = 0;
  std::uint64_t slots_free = 0;
  std::uint64_t slots_stocked = 0;
  EmptyingRefusal refusal;
  TimeNs lent_out_ns = 0;  ///< when a reservation found no slab that was not another writer's, last; 0: never
  SavingScan saving;
  BarrenEnd barren;
  std::uint32_t look_next = 0;  ///< place in `slabs`: where emptying looks next, beyond the coldest
};

/// A namespace.
struct Tenant {
  NamespaceId id = NamespaceId::kNone;
  std::string name;
  std::uint64_t bytes_max = 0;
  Directory directory;
  std::uint64_t directory_epoch = 0;
  std::uint64_t growth_owed = 0;  ///< of the directory's growth: what inserts have to pay (directory_growth)
  std::vector<Space> spaces;
  std::vector<SlotClass> classes;
  std::vector<SlabIndex> slabs;
  std::uint64_t slab_bytes = 0;
  std::vector<SessionIndex> sessions;  ///< attached ones and zombies: all whose pins count
  std::size_t access_first = 0;        ///< place in `sessions`: whose log is read first
  std::uint64_t blocks_ready = 0;
  std::uint64_t pinned_bytes = 0;  ///< slots of blocks in pin_holds
  std::unique_ptr<Evictor> cold;   ///< blocks on disk only, in the order in which they leave; null: no disk
  std::uint64_t blocks_cold = 0;
  bool is_unclaimed = false;  ///< made anew from the disk: its limit is that of its first client
};

}  // namespace kvtier
