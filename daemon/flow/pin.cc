#include "daemon/flow/pin.h"

#include <algorithm>

namespace kvtier {
namespace {

std::uint64_t pinned_bytes_max(const StoreState& state, const Tenant& tenant) {
  const std::uint64_t share = tenant.bytes_max != 0 ? tenant.bytes_max : state.memory.bytes();
  return share / 100 * state.options.pinned_percent_namespace;
}

// Counts it; the caller has put it into pin_holds, or takes it out.
void count_pin(StoreState& state, BlockRecord& record) {
  record.flags |= kBlockPinned;
  state.tenants[record.tenant].pinned_bytes += state.slab_of(record.slot).slot_bytes();
  ++state.stats.blocks_pinned;
}
void uncount_pin(StoreState& state, BlockRecord& record) {
  record.flags &= static_cast<std::uint16_t>(~kBlockPinned);
  state.tenants[record.tenant].pinned_bytes -= state.slab_of(record.slot).slot_bytes();
  --state.stats.blocks_pinned;
}

}  // namespace

Session* pin_holder(StoreState& state, BlockId id) {
  const auto hold = state.pin_holds.find(index_of(id));
  return hold == state.pin_holds.end() ? nullptr
                                       : state.session(hold->second.session, hold->second.session_id);
}

bool pin_drop(StoreState& state, BlockId id) {
  if (state.pin_holds.erase(index_of(id)) == 0) return false;
  uncount_pin(state, state.blocks[id]);
  return true;
}

Code pin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys, TimeNs ttl_ns,
              std::uint32_t& count) {
  Tenant& tenant = state.tenant_of(session);
  const TimeNs expires_ns = state.now() + ttl_ns;
  const std::uint64_t bytes_max = pinned_bytes_max(state, tenant);
  for (const Key& key : keys) {
    const BlockId id = state.index->find(tenant.id, space, key);
    if (id == BlockId::kNone || state.blocks[id].state != BlockState::kReady) continue;
    BlockRecord& record = state.blocks[id];
    if ((record.flags & kBlockPinned) == 0) {
      if (tenant.pinned_bytes + state.slab_of(record.slot).slot_bytes() > bytes_max) return Code::kNoSpace;
      count_pin(state, record);
    }
    state.pin_holds[index_of(id)] = {.expires_ns = expires_ns,
                                     .session = session.index,
                                     .pid = session.request.pid,
                                     .session_id = session.id,
                                     .uid = session.request.uid};
    state.pins_expire_at_ns = std::min(state.pins_expire_at_ns, expires_ns);
    ++count;
  }
  return Code::kOk;
}

std::uint32_t unpin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys) {
  std::uint32_t count = 0;
  for (const Key& key : keys) {
    const BlockId id = state.index->find(session.tenant, space, key);
    if (id != BlockId::kNone && pin_drop(state, id)) ++count;
  }
  return count;
}

std::size_t pins_expire(StoreState& state) {
  const TimeNs now = state.now();
  if (now < state.pins_expire_at_ns) return 0;
  state.pins_expire_at_ns = kNever;
  std::size_t expired = 0;
  for (auto it = state.pin_holds.begin(); it != state.pin_holds.end();) {
    if (it->second.expires_ns > now) {
      state.pins_expire_at_ns = std::min(state.pins_expire_at_ns, it->second.expires_ns);
      ++it;
      continue;
    }
    uncount_pin(state, state.blocks[BlockId{it->first}]);
    it = state.pin_holds.erase(it);
    ++expired;
  }
  return expired;
}

}  // namespace kvtier
