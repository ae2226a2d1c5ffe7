#pragma once
// Making free slots by eviction. A pass gathers victims (slot word `evicting`, no lease seen) from the
// coldest on and then either finishes them all or puts them back, so that an all-or-nothing request that
// cannot be met evicts nothing.

#include "daemon/flow/state.h"

namespace kvtier {

/// Candidates that one pass may look at beyond those it takes: what is deferred moves to the hot end, so that
/// the next pass goes on behind it.
inline constexpr std::uint32_t kEvictScanMax = 4096;

/// Blocks that one pass may pass over because their children stay, to those that it may look at beyond what it takes:
/// passing over costs two cache lines, a leased block one pin a session.
inline constexpr std::uint32_t kEvictPassedOverFactor = 16;

/// The same of a pass for clean blocks: unsaved blocks, which keep their places. Those behind them are hotter.
inline constexpr std::uint32_t kCleanScanMax = 256;

/// Blocks that are not on disk yet, of which a pass tells: as many as puts may be open.
inline constexpr std::uint32_t kUnsavedMax = kPutsOpenMax;

struct EvictRequest {
  Tenant* tenant = nullptr;
  std::uint32_t slot_class = 0;
  const Session* session = nullptr;  ///< only slabs that it may write count; null: any
  std::uint32_t count = 0;
  bool is_all_or_nothing = false;
  bool spares_unsaved = false;             ///< blocks that can be written to disk and are not there stay
  std::uint32_t scan_max = kEvictScanMax;  ///< candidates looked at beyond those taken
};

struct EvictPass {
  std::uint32_t evicted = 0;
  std::uint32_t pinned = 0;         ///< candidates that leases or pins kept, and what they continue
  std::uint32_t unsaved = 0;        ///< candidates that stayed because they are not on disk yet
  std::uint32_t pinned_by_pid = 0;  ///< the process that kept most of them, which may have closed
};

/// A pass for clean blocks that found too few is remembered (SlotClass::barren): until a block of the class is saved the
/// next one of that kind finds the same, without a look.
EvictPass evict_for(StoreState& state, const EvictRequest& request);

/// The background pass: keeps StoreOptions::low_water_blocks free slots in each class that is out of fresh
/// slabs. Returns the blocks evicted; at most one batch.
std::size_t evict_background(StoreState& state);

/// Takes one ready block to kEvicting, if nobody leases it, it is not pinned and has no child that stays.
/// kOk; kBusy: leased or pinned; kExists: it has children; kNotFound: not a ready block.
Code evict_begin(StoreState& state, BlockId id);
/// It leaves; with a copy on disk, memory only.
void evict_finish(StoreState& state, BlockId id);
void evict_put_back(StoreState& state, BlockId id);

}  // namespace kvtier
