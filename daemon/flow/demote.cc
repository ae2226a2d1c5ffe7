#include "daemon/flow/demote.h"

#include <algorithm>

#include "daemon/flow/demote_group.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

// Blocks looked at a turn: cache misses, some microseconds.
constexpr std::uint32_t kLooksStep = 64;
// Blocks above each of them, which leave after it.
constexpr int kAncestorsLook = 8;
// The cold end: this part of a class, within bounds.
constexpr std::uint64_t kWindowPart = 8;
constexpr std::uint64_t kWindowMin = 64;
constexpr std::uint64_t kWindowMax = 4096;
// Pauses of 10 ms and twice that each time, up to a second: some four seconds.
constexpr std::uint32_t kRetriesMax = 10;

std::uint32_t window(const SlotClass& slot_class) {
  return static_cast<std::uint32_t>(std::clamp(slot_class.slots / kWindowPart, kWindowMin, kWindowMax));
}

// Slots run out: what is cold will have to leave.
bool is_short(const StoreState& state, const Tenant& tenant, const SlotClass& slot_class) {
  if (state.disk->is_waited_for) return true;
  const bool has_slabs = state.memory.unassigned_count() > 0 && tenant.bytes_max == 0;
  return !has_slabs && slot_class.slots_free < window(slot_class);
}

void begin_scan(SlotClass& slot_class) {
  slot_class.saving.is_due = false;
  slot_class.saving.left = window(slot_class);
  slot_class.evictor->set_mark(slot_class.evictor->coldest());
}

bool is_scan_over(const SlotClass& slot_class) {
  return slot_class.saving.left == 0 || slot_class.evictor->mark() == BlockId::kNone;
}

// False: no put may be opened now; the place is kept.
bool look_at_mark(StoreState& state, SlotClass& slot_class) {
  const BlockId mark = slot_class.evictor->mark();
  BlockId id = mark;
  // What it continues may have lost its copy.
  for (int i = 0; i < kAncestorsLook && id != BlockId::kNone && !demote_wants(state, id); ++i)
    id = state.blocks[id].parent;
  if (id != BlockId::kNone && demote_wants(state, id) && demote_group(state, id) == 0) return false;
  slot_class.evictor->set_mark(slot_class.evictor->after(mark));
  --slot_class.saving.left;
  return true;
}

std::size_t scan(StoreState& state, Tenant& tenant, SlotClass& slot_class) {
  if (is_scan_over(slot_class)) {
    if (!slot_class.saving.is_due || !is_short(state, tenant, slot_class)) return 0;
    begin_scan(slot_class);
  }
  std::size_t looked = 0;
  while (looked < kLooksStep && !is_scan_over(slot_class) && look_at_mark(state, slot_class)) ++looked;
  return looked;
}

// A run of blocks that were committed one under the other is one group.
std::size_t save_committed(StoreState& state) {
  SaveQueue& queue = state.disk->committed;
  std::size_t looked = 0;
  for (; looked < kLooksStep && !queue.is_empty(); ++looked) {
    const BlockId first = queue.front();
    if (!demote_wants(state, first)) {
      queue.pop();
      continue;
    }
    if (!demote_run(state, queue)) break;
  }
  return looked;
}

}  // namespace

void demote_is_due(StoreState& state, Tenant& tenant, std::uint32_t slot_class) {
  if (!state.disk) return;
  SavingScan& saving = tenant.classes[slot_class].saving;
  saving.is_due = true;
  saving.retries = kRetriesMax;
}

void demote_committed(StoreState& state, BlockId id) {
  if (!state.disk) return;
  const BlockRecord& record = state.blocks[id];
  demote_is_due(state, state.tenants[record.tenant], state.space_of(record).slot_class);
  if (state.options.disk_write == DiskWrite::kThrough) (void)state.disk->committed.push(id);
}

void demote_now(StoreState& state, std::span<const BlockId> blocks) {
  if (!demote_works(state)) return;
  state.disk->is_waited_for = true;
  for (const BlockId id : blocks) {
    if (demote_can_save(state, id) && demote_group(state, id) == 0) return;
  }
}

std::size_t demote_step(StoreState& state) {
  if (!state.disk || !demote_works(state)) return 0;
  std::size_t looked = save_committed(state);
  for (Tenant& tenant : state.tenants) {
    for (SlotClass& slot_class : tenant.classes) looked += scan(state, tenant, slot_class);
  }
  state.disk->is_waited_for = state.stats.reserves_deferred > 0 && state.disk->is_waited_for;
  return looked;
}

}  // namespace kvtier
