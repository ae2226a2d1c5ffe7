#include "daemon/flow/disk_open.h"

#include <algorithm>
#include <new>

#include "daemon/flow/disk_send.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/sessions.h"

namespace kvtier {
namespace {

using SlabUse = DiskTier::SlabUse;

// Blocks that wait in the queue of write-through; what is beyond is written when it is cold.
constexpr std::uint32_t kCommittedMax = 1U << 20;

void tell_slab(StoreState& state, const Slab& slab) {
  DiskCommand command;
  command.kind = DiskCommandKind::kSlabAdd;
  command.slab = slab.index();
  command.data = slab.payload(0);
  command.bytes = slab.bytes();
  disk_send(state, command);
  state.disk->slabs[index_of(slab.index())] = SlabUse::kAdded;
  --state.disk->slabs_unknown;
}

std::size_t tell_slabs(StoreState& state) {
  DiskTier& disk = *state.disk;
  std::size_t told = 0;
  for (std::uint32_t i = 0; disk.slabs_unknown > 0 && i < disk.slabs.size(); ++i) {
    if (disk.slabs[i] != SlabUse::kUnknown) continue;
    if (!disk_has_room(state, 1)) break;
    tell_slab(state, state.memory.slab(SlabIndex{i}));
    ++told;
  }
  return told;
}

std::size_t tell_spaces(StoreState& state) {
  std::size_t told = 0;
  for (Tenant& tenant : state.tenants) {
    for (Space& space : tenant.spaces) {
      if (space.is_told || space.described == nullptr) continue;
      if (!disk_has_room(state, 1)) return told;
      DiskCommand command;
      command.kind = DiskCommandKind::kSpace;
      command.tenant = space.described->tenant;
      command.space = space.described->space;
      command.described = space.described;
      disk_send(state, command);
      space.is_told = true;
      --state.disk->spaces_untold;
      ++told;
    }
  }
  return told;
}

void remove_slabs(StoreState& state) {
  state.disk->is_removal_due = false;
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i)
    rebalance_let_go(state, state.memory.slab(SlabIndex{i}));
}

}  // namespace

DiskTier::DiskTier(DiskPort& given, std::uint32_t blocks_max, std::uint64_t seed, bool writes_through)
    : port(given),
      outbox(kDiskOutboxMax + kDiskAnswersMax),
      committed(writes_through ? std::min(blocks_max, kCommittedMax) : 0),
      orphans(blocks_max, seed) {
  locators.reserve(blocks_max);
  forgets.reserve(std::size_t{blocks_max} + 2 * kDiskNewsMax);
}

Status disk_create(StoreState& state, std::uint32_t blocks_max) {
  if (state.options.disk == nullptr) return Status::ok();
  try {
    const bool is_through = state.options.disk_write == DiskWrite::kThrough;
    state.disk = std::make_unique<DiskTier>(*state.options.disk, blocks_max, state.chance.next(), is_through);
  } catch (const std::bad_alloc&) {
    return {Code::kNoSpace,
            "no memory to name " + std::to_string(blocks_max) + " blocks on disk; lower index.blocks_max"};
  }
  return Status::ok();
}

Result<SpaceIds> disk_space(StoreState& state, std::string_view namespace_name,
                            std::span<const std::byte> encoding) {
  const std::size_t before = state.tenants.size();
  Result<Tenant*> tenant = tenant_open(state, namespace_name, 0);
  if (!tenant.is_ok()) return tenant.status();
  if (state.tenants.size() > before) tenant.value()->is_unclaimed = true;
  const Result<SpaceGrant> space = space_open(state, *tenant.value(), encoding);
  if (!space.is_ok()) return space.status();
  return SpaceIds{tenant.value()->id, space.value().space};
}

void disk_describe(StoreState& state, const Tenant& tenant, Space& space) {
  if (!state.disk) return;
  auto described = std::make_shared<DiskSpace>();
  described->tenant = tenant.id;
  described->space = SpaceId{static_cast<std::uint32_t>(&space - tenant.spaces.data() + 1)};
  described->namespace_name = tenant.name;
  described->encoding = space.encoding;
  described->digest = space.digest;
  described->block_bytes = space.block_bytes;
  space.described = std::move(described);
  ++state.disk->spaces_untold;
  (void)tell_spaces(state);
}

std::size_t disk_tell_step(StoreState& state) {
  DiskTier& disk = *state.disk;
  if (disk.slabs.empty()) {
    disk.slabs.assign(state.memory.slab_count(), SlabUse::kUnknown);
    disk.slabs_unknown = state.memory.slab_count();
  }
  if (disk.is_removal_due) remove_slabs(state);
  std::size_t told = disk.slabs_unknown > 0 ? tell_slabs(state) : 0;
  if (disk.spaces_untold > 0) told += tell_spaces(state);
  const bool is_due = disk.is_open_wanted && disk.life == DiskTier::Life::kShut;
  if (!is_due || disk.slabs_unknown + disk.spaces_untold > 0 || !disk_has_room(state, 1)) return told;
  disk_send(state, {.kind = DiskCommandKind::kOpen});
  disk.life = DiskTier::Life::kOpening;
  return told + 1;
}

bool disk_lets_go(StoreState& state, const Slab& slab) {
  if (!state.disk || state.disk->slabs.empty()) return true;
  SlabUse& use = state.disk->slabs[index_of(slab.index())];
  // A tier that is over holds nothing.
  if (use == SlabUse::kUnknown || use == SlabUse::kRemoved || state.disk->life >= DiskTier::Life::kClosed)
    return true;
  if (use == SlabUse::kAdded && !disk_has_room(state, 1)) state.disk->is_removal_due = true;
  if (use == SlabUse::kAdded && disk_has_room(state, 1)) {
    DiskCommand command;
    command.kind = DiskCommandKind::kSlabRemove;
    command.slab = slab.index();
    command.tag = index_of(slab.index());
    disk_send(state, command);
    use = SlabUse::kRemoving;
  }
  return false;
}

void disk_slab_made(StoreState& state, const Slab& slab) {
  if (!state.disk || state.disk->slabs.empty()) return;
  SlabUse& use = state.disk->slabs[index_of(slab.index())];
  if (use != SlabUse::kUnknown) ++state.disk->slabs_unknown;
  use = SlabUse::kUnknown;
}

void disk_on_slab_removed(StoreState& state, SlabIndex slab) {
  state.disk->slabs[index_of(slab)] = SlabUse::kRemoved;
  rebalance_let_go(state, state.memory.slab(slab));
}

}  // namespace kvtier
