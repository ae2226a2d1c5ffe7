#include "daemon/flow/access.h"

#include <array>

namespace kvtier {
namespace {

bool is_known(StoreState& state, const Tenant& tenant, const AccessRecord& record, BlockId& id) {
  if (record.last.slab() >= state.memory.slab_count()) return false;
  const Slab& slab = state.slab_of(record.last);
  if (slab.owner() != tenant.id) return false;
  id = slab.block(record.last.slot());
  return id != BlockId::kNone;
}

void touch(StoreState& state, BlockId id, std::uint32_t now_ms) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  const Space& space = tenant.spaces[static_cast<std::uint32_t>(record.space) - 1];
  record.access_ms = now_ms;
  tenant.classes[space.slot_class].evictor->access(id);
}

}  // namespace

std::uint32_t access_touch_run(StoreState& state, BlockId last, std::uint32_t count, bool is_hit) {
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  std::uint32_t touched = 0;
  for (BlockId id = last; id != BlockId::kNone && touched < count; ++touched) {
    BlockRecord& record = state.blocks[id];
    if (is_hit) record.flags |= kBlockUsed;
    // An adopted block is on no evictor's list before its checksum was compared.
    if (record.state == BlockState::kReady && (record.flags & kBlockUnverified) == 0) {
      if (is_hit) ++record.hits;
      if (now_ms - record.access_ms >= kRecencyGrainMs) touch(state, id, now_ms);
    } else if (record.state == BlockState::kCold && now_ms - record.access_ms >= kRecencyGrainMs) {
      state.tenants[record.tenant].cold->access(id);
      record.access_ms = now_ms;
    }
    id = record.parent;
  }
  return touched;
}

std::size_t access_drain(StoreState& state, Tenant& tenant, std::uint32_t touches_max) {
  std::size_t touched = 0;
  std::array<AccessRecord, 32> records;
  for (const SessionIndex index : tenant.sessions) {
    Session& session = *state.session(index);
    std::size_t count = records.size();
    const std::uint64_t lost_before = session.access_log.lost_count();
    while (count == records.size() && touched < touches_max) {
      count = session.access_log.drain(records);
      for (std::size_t i = 0; i < count; ++i) {
        BlockId id = BlockId::kNone;
        if (!is_known(state, tenant, records[i], id)) {
          ++state.stats.access_records_invalid;
          continue;
        }
        const std::uint32_t run = access_touch_run(state, id, records[i].count, true);
        state.stats.hits_host += run;
        touched += run;
      }
      state.stats.access_records += count;
    }
    state.stats.access_records_lost += session.access_log.lost_count() - lost_before;
  }
  return touched;
}

}  // namespace kvtier
