#include "daemon/flow/pin.h"

#include <algorithm>

namespace kvtier {
namespace {

std::uint64_t pinned_bytes_max(const StoreState& state, const Tenant& tenant) {
  const std::uint64_t share = tenant.bytes_max != 0 ? tenant.bytes_max : state.memory.bytes();
  return share / 100 * state.options.pinned_percent_namespace;
}

std::uint64_t pinned_bytes(StoreState& state, const Tenant& tenant) {
  std::uint64_t bytes = 0;
  for (const auto& [block, hold] : state.pin_holds) {
    const BlockRecord& record = state.blocks[BlockId{block}];
    if (record.tenant == index_of(tenant.id)) bytes += state.slab_of(record.slot).slot_bytes();
  }
  return bytes;
}

void drop_pin(StoreState& state, std::uint32_t block) {
  state.blocks[BlockId{block}].flags &= static_cast<std::uint16_t>(~kBlockPinned);
  --state.stats.blocks_pinned;
}

}  // namespace

Code pin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys, TimeNs ttl_ns,
              std::uint32_t& count) {
  Tenant& tenant = state.tenant_of(session);
  const TimeNs expires_ns = state.now() + ttl_ns;
  const std::uint64_t bytes_max = pinned_bytes_max(state, tenant);
  std::uint64_t bytes = pinned_bytes(state, tenant);
  for (const Key& key : keys) {
    const BlockId id = state.index->find(tenant.id, space, key);
    if (id == BlockId::kNone || state.blocks[id].state != BlockState::kReady) continue;
    BlockRecord& record = state.blocks[id];
    if ((record.flags & kBlockPinned) == 0) {
      bytes += state.slab_of(record.slot).slot_bytes();
      if (bytes > bytes_max) return Code::kNoSpace;
      record.flags |= kBlockPinned;
      ++state.stats.blocks_pinned;
    }
    state.pin_holds[index_of(id)] = {expires_ns, session.id};
    ++count;
  }
  if (count > 0) state.pins_expire_at_ns = std::min(state.pins_expire_at_ns, expires_ns);
  return Code::kOk;
}

std::uint32_t unpin_keys(StoreState& state, Session& session, SpaceId space, std::span<const Key> keys) {
  std::uint32_t count = 0;
  for (const Key& key : keys) {
    const BlockId id = state.index->find(session.tenant, space, key);
    if (id == BlockId::kNone || state.pin_holds.erase(index_of(id)) == 0) continue;
    drop_pin(state, index_of(id));
    ++count;
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
    drop_pin(state, it->first);
    it = state.pin_holds.erase(it);
    ++expired;
  }
  return expired;
}

}  // namespace kvtier
