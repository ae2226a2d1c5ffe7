#include "daemon/flow/pin.h"

#include <algorithm>
#include <utility>

#include "daemon/flow/rebalance.h"

namespace kvtier {
namespace {

// A turn's: some tenths of a millisecond.
constexpr std::size_t kPinsExpiredMax = 1024;

std::uint64_t pinned_bytes_max(const StoreState& state, const Tenant& tenant) {
  return pin_share_bytes(state, tenant) * state.options.pinned_percent_namespace / 100;
}

// Counts it; the caller has put it into pin_holds, or takes it out.
void count_block(StoreState& state, BlockRecord& record) {
  record.flags |= kBlockPinned;
  state.tenants[record.tenant].pinned_bytes += state.slab_of(record.slot).slot_bytes();
  ++state.stats.blocks_pinned;
}
void uncount_block(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  state.class_of(record).evictor->released(id);
  record.flags &= static_cast<std::uint16_t>(~kBlockPinned);
  state.tenants[record.tenant].pinned_bytes -= state.slab_of(record.slot).slot_bytes();
  --state.stats.blocks_pinned;
}

// A client's pin in the order of expiry, and in its sum.
void enter(StoreState& state, BlockId id, const Pin& pin) {
  if (pin.session_id == 0) return;
  const BlockRecord& record = state.blocks[id];
  state.pin_expiries.insert({pin.expires_ns, index_of(id), pin.session_id});
  Pinner& pinner = state.pinners[pin.session_id];
  pinner.tenant = state.tenants[record.tenant].id;
  pinner.pid = pin.pid;
  pinner.uid = pin.uid;
  ++pinner.blocks;
  pinner.bytes += state.slab_of(record.slot).slot_bytes();
}
void leave(StoreState& state, BlockId id, const Pin& pin) {
  if (pin.session_id == 0) return;
  state.pin_expiries.erase({pin.expires_ns, index_of(id), pin.session_id});
  const auto pinner = state.pinners.find(pin.session_id);
  pinner->second.bytes -= state.slab_of(state.blocks[id].slot).slot_bytes();
  if (--pinner->second.blocks > 0) return;
  rebalance_forgive(state.tenants[index_of(pinner->second.tenant)], pinner->second.pid);
  state.pinners.erase(pinner);
}

// Of several clients' the two that last longest; a client's own is replaced, whatever it was.
void add_to(PinHold& hold, const Pin& pin) {
  if (hold.first.session_id == pin.session_id) {
    hold.first = pin;
  } else if (hold.second.session_id == pin.session_id || hold.second.expires_ns < pin.expires_ns) {
    hold.second = pin;
  }
  if (hold.first.expires_ns < hold.second.expires_ns) std::swap(hold.first, hold.second);
}

void put(StoreState& state, BlockId id, const Pin& pin) {
  PinHold& hold = state.pin_holds[index_of(id)];
  leave(state, id, hold.first);
  leave(state, id, hold.second);
  add_to(hold, pin);
  enter(state, id, hold.first);
  enter(state, id, hold.second);
}

// One client's pin of a block ends, and with the last one the block's.
void end_one(StoreState& state, BlockId id, std::uint64_t session_id) {
  PinHold& hold = state.pin_holds.at(index_of(id));
  Pin& ended = hold.first.session_id == session_id ? hold.first : hold.second;
  leave(state, id, ended);
  ended = {};
  if (hold.first.session_id == 0) std::swap(hold.first, hold.second);
  if (hold.first.session_id != 0) return;
  state.pin_holds.erase(index_of(id));
  uncount_block(state, id);
}

// Whoever is gone cannot take its own back: anybody may.
bool may_end(StoreState& state, const Session& session, const Pin& pin) {
  if (pin.session_id == 0) return false;
  return pin.session_id == session.id || state.session(pin.session, pin.session_id) == nullptr;
}

bool unpin(StoreState& state, const Session& session, BlockId id) {
  const auto found = state.pin_holds.find(index_of(id));
  if (found == state.pin_holds.end()) return false;
  const PinHold hold = found->second;
  const bool ends_first = may_end(state, session, hold.first);
  const bool ends_second = may_end(state, session, hold.second);
  if (ends_first) end_one(state, id, hold.first.session_id);
  if (ends_second) end_one(state, id, hold.second.session_id);
  return ends_first || ends_second;
}

}  // namespace

std::uint64_t pin_share_bytes(const StoreState& state, const Tenant& tenant) {
  return tenant.bytes_max != 0 ? std::min(tenant.bytes_max, state.memory.bytes()) : state.memory.bytes();
}

const Pin* pin_of(const StoreState& state, BlockId id) {
  const auto hold = state.pin_holds.find(index_of(id));
  return hold == state.pin_holds.end() ? nullptr : &hold->second.first;
}

bool pin_is_of(const StoreState& state, BlockId id, const Session& session) {
  if ((state.blocks[id].flags & kBlockPinned) == 0) return false;
  const PinHold& hold = state.pin_holds.at(index_of(id));
  return hold.first.session_id == session.id || hold.second.session_id == session.id;
}

bool pin_drop(StoreState& state, BlockId id) {
  const auto hold = state.pin_holds.find(index_of(id));
  if (hold == state.pin_holds.end()) return false;
  leave(state, id, hold->second.first);
  leave(state, id, hold->second.second);
  state.pin_holds.erase(hold);
  uncount_block(state, id);
  return true;
}

Code pin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys, TimeNs ttl_ns,
              std::uint32_t& count) {
  Tenant& tenant = state.tenant_of(session);
  const Pin pin{.expires_ns = state.now() + ttl_ns,
                .session = session.index,
                .pid = session.request.pid,
                .session_id = session.id,
                .uid = session.request.uid};
  const std::uint64_t bytes_max = pinned_bytes_max(state, tenant);
  for (const Key& key : keys) {
    const BlockId id = state.index->find(tenant.id, space, key);
    if (id == BlockId::kNone || state.blocks[id].state != BlockState::kReady) continue;
    BlockRecord& record = state.blocks[id];
    if ((record.flags & kBlockPinned) == 0) {
      if (tenant.pinned_bytes + state.slab_of(record.slot).slot_bytes() > bytes_max) return Code::kNoSpace;
      count_block(state, record);
    }
    put(state, id, pin);
    ++count;
  }
  return Code::kOk;
}

std::uint32_t unpin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys) {
  std::uint32_t count = 0;
  for (const Key& key : keys) {
    const BlockId id = state.index->find(session.tenant, space, key);
    if (id != BlockId::kNone && unpin(state, session, id)) ++count;
  }
  return count;
}

std::size_t pins_expire(StoreState& state) {
  std::size_t expired = 0;
  for (; expired < kPinsExpiredMax && pins_next_expiry(state) <= state.now(); ++expired) {
    const PinExpiry next = *state.pin_expiries.begin();
    end_one(state, BlockId{next.block}, next.session_id);
  }
  return expired;
}

TimeNs pins_next_expiry(const StoreState& state) {
  return state.pin_expiries.empty() ? kNever : state.pin_expiries.begin()->expires_ns;
}

}  // namespace kvtier
