#include "daemon/flow/pin.h"

namespace kvtier {
namespace {

std::uint64_t pinned_bytes_max(const StoreState& state, const Tenant& tenant) {
  const std::uint64_t share = tenant.bytes_max != 0 ? tenant.bytes_max : state.memory.bytes();
  return share / 100 * state.options.pinned_percent_namespace;
}

// A turn's: some tenths of a millisecond.
constexpr std::size_t kPinsExpiredMax = 1024;

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

// The latest word on when it ends.
void put_hold(StoreState& state, BlockId id, const PinHold& hold) {
  PinHold& held = state.pin_holds[index_of(id)];
  state.pin_expiries.erase({held.expires_ns, index_of(id)});
  state.pin_expiries.emplace(hold.expires_ns, index_of(id));
  held = hold;
}

}  // namespace

Session* pin_holder(StoreState& state, BlockId id) {
  const auto hold = state.pin_holds.find(index_of(id));
  return hold == state.pin_holds.end() ? nullptr
                                       : state.session(hold->second.session, hold->second.session_id);
}

bool pin_drop(StoreState& state, BlockId id) {
  const auto hold = state.pin_holds.find(index_of(id));
  if (hold == state.pin_holds.end()) return false;
  state.pin_expiries.erase({hold->second.expires_ns, index_of(id)});
  state.pin_holds.erase(hold);
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
    put_hold(state, id,
             {.expires_ns = expires_ns,
              .session = session.index,
              .pid = session.request.pid,
              .session_id = session.id,
              .uid = session.request.uid});
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
  std::size_t expired = 0;
  for (; expired < kPinsExpiredMax && pins_next_expiry(state) <= state.now(); ++expired)
    (void)pin_drop(state, BlockId{state.pin_expiries.begin()->second});
  return expired;
}

TimeNs pins_next_expiry(const StoreState& state) {
  return state.pin_expiries.empty() ? kNever : state.pin_expiries.begin()->first;
}

}  // namespace kvtier
