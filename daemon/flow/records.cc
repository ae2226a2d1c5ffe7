#include "daemon/flow/records.h"

#include <algorithm>

#include "daemon/flow/cool.h"
#include "daemon/flow/directory_growth.h"

namespace kvtier {
namespace {

// Records that are kept free for what comes next, and how many cold blocks one step drops for them.
constexpr std::uint32_t kAheadMax = 4096;
constexpr std::uint32_t kDropsStep = 64;

std::uint32_t free_count(const StoreState& state) {
  return state.blocks.reserved() - state.blocks.used();
}

std::uint32_t ahead(const StoreState& state) {
  return std::min(kAheadMax, state.blocks.blocks_max() / 64 + 1);
}

// The index is made anew to grow: beside cold blocks, which come one by one, by half of what it has.
Status reserve_index(StoreState& state, std::uint64_t count) {
  if (!state.disk) return state.index->reserve(count);
  if (count <= state.disk->index_reserved) return Status::ok();
  const std::uint64_t wanted =
      std::max(count, std::min<std::uint64_t>(count + count / 2, state.blocks.blocks_max()));
  KV_RETURN_IF_ERROR(state.index->reserve(wanted));
  state.disk->index_reserved = wanted;
  return Status::ok();
}

Status reserve_all(StoreState& state, std::uint64_t count) {
  KV_RETURN_IF_ERROR(state.blocks.reserve(static_cast<std::uint32_t>(std::min<std::uint64_t>(count, ~0U))));
  state.restart.header().blocks_reserved = state.blocks.reserved();
  if (state.disk) state.disk->locators.resize(state.blocks.reserved());  // its memory was taken at start
  return reserve_index(state, state.disk ? state.blocks.reserved() : count);
}

// Pages for one step more: some tenths of a millisecond.
bool grow(StoreState& state) {
  const std::uint32_t before = state.blocks.reserved();
  return before < state.blocks.blocks_max() && reserve_all(state, std::uint64_t{before} + 1).is_ok();
}

// For want of a record.
bool drop_coldest(StoreState& state) {
  if (!cold_drop_coldest(state, nullptr)) return false;
  ++state.stats.index_drops;
  return true;
}

std::size_t drop_some(StoreState& state, auto&& is_wanted, auto&& drop) {
  std::size_t dropped = 0;
  while (dropped < kDropsStep && is_wanted() && drop(state)) ++dropped;
  return dropped;
}

}  // namespace

Status records_reserve(StoreState& state, std::uint64_t slots) {
  const std::uint64_t with_cold =
      std::min<std::uint64_t>(slots + state.stats.blocks_cold, state.blocks.blocks_max());
  return reserve_all(state, std::max(slots, with_cold));
}

BlockId record_take(StoreState& state, BlockState as) {
  const BlockId id = state.blocks.allocate(as);
  if (id != BlockId::kNone || !state.disk) return id;
  return drop_coldest(state) ? state.blocks.allocate(as) : BlockId::kNone;
}

void record_free(StoreState& state, BlockId id) {
  --state.space_of(state.blocks[id]).blocks;
  state.blocks.free(id);
}

bool records_have_room(StoreState& state) {
  return free_count(state) > ahead(state) || (grow(state) && free_count(state) > ahead(state));
}

std::size_t records_step(StoreState& state) {
  if (!state.disk) return 0;
  if (state.disk->life == DiskTier::Life::kRefused) {
    return drop_some(
        state, [] { return true; }, [](StoreState& each) { return cold_drop_coldest(each, nullptr); });
  }
  for (Tenant& tenant : state.tenants) {
    if (tenant.blocks_cold > 0) (void)directory_make_room(state, tenant, 0);
  }
  if (free_count(state) >= ahead(state)) return 0;
  if (grow(state)) return 1;
  return drop_some(
      state, [&] { return free_count(state) < ahead(state); }, drop_coldest);
}

}  // namespace kvtier
