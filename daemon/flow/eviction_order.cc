#include "daemon/flow/eviction_order.h"

#include "daemon/flow/state.h"
#include "daemon/policy/reuse_evictor.h"

namespace kvtier {
namespace {

// On its class's list: adopted blocks are on none before their checksums were compared.
bool is_listed(const BlockRecord& record) {
  return record.state == BlockState::kReady && (record.flags & kBlockUnverified) == 0;
}

template <class F>
void for_all(const StoreState& state, const F& each) {
  for (const Tenant& tenant : state.tenants) {
    for (const SlotClass& slot_class : tenant.classes) each(*slot_class.evictor);
  }
}

}  // namespace

void Leaves::became_leaf(BlockId block) {
  const BlockRecord& record = state_->blocks[block];
  if (is_listed(record)) (void)state_->class_of(record).evictor->became_leaf(block, BlockId::kNone);
}

void order_create(StoreState& state) {
  state.leaves.emplace(state);
  state.tree = std::make_unique<PrefixTree>(state.blocks, &*state.leaves);
  state.reuse = std::make_shared<ReuseEntries>(state.blocks.blocks_max());
}

std::unique_ptr<Evictor> order_evictor(StoreState& state) {
  return std::make_unique<ReuseEvictor>(state.blocks, state.chance.next(), state.reuse);
}

void order_insert(StoreState& state, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  const bool has_parent = record.parent != BlockId::kNone && is_listed(state.blocks[record.parent]) &&
                          state.blocks[record.parent].space == record.space;
  state.class_of(record).evictor->insert(id, has_parent ? record.parent : BlockId::kNone);
}

ColdEnd::ColdEnd(StoreState& state, Evictor& evictor)
    : state_(&state), evictor_(&evictor), candidate_(evictor.coldest()) {}

BlockId ColdEnd::take() {
  if (up_ != BlockId::kNone && is_listed(state_->blocks[up_])) {
    const BlockId taken = up_;
    up_ = state_->blocks[taken].parent;
    return taken;
  }
  const BlockId taken = candidate_;
  if (taken == BlockId::kNone) return taken;
  candidate_ = evictor_->after(taken);
  up_ = state_->blocks[taken].parent;
  return taken;
}

std::uint64_t order_bytes(const StoreState& state) {
  std::uint64_t bytes = std::uint64_t{state.blocks.reserved()} * sizeof(ReuseEntry);
  for_all(state, [&](const Evictor& evictor) { bytes += evictor.bytes_resident(); });
  return bytes;
}

std::uint64_t order_ghost_hits(const StoreState& state) {
  std::uint64_t hits = 0;
  for_all(state, [&](const Evictor& evictor) { hits += evictor.ghost_hits(); });
  return hits;
}

}  // namespace kvtier
