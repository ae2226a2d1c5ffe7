#include "daemon/flow/place.h"

#include "daemon/flow/directory_growth.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {

// Index and directory first: the only steps that can fail.
Code place_block(StoreState& state, BlockId id, BlockId parent) {
  const BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  if (state.index->insert(tenant.id, record.space, record.key, id) != Code::kOk) return Code::kNoSpace;
  if (directory_insert(state, tenant, {record.space, record.key, directory_residency(record)}) != Code::kOk) {
    state.index->erase(tenant.id, record.space, record.key);
    return Code::kNoSpace;
  }
  // A cold parent may have made room in the directory.
  if (parent != BlockId::kNone && state.blocks[parent].state != BlockState::kFree)
    (void)state.tree->attach(id, parent);
  place_children(state, id);
  ++state.stats.blocks_writing;
  return Code::kOk;
}

void place_orphan(StoreState& state, BlockId id, BlockId parent) {
  if (parent == BlockId::kNone || state.blocks[id].parent != BlockId::kNone) return;
  if (state.disk) state.disk->orphans.remove(state.blocks, id);
  (void)state.tree->attach(id, parent);  // refused: the client claims a cycle, which then stays unlinked
}

void place_children(StoreState& state, BlockId id) {
  if (!state.disk) return;
  for (BlockId child = state.disk->orphans.take_child_of(state.blocks, id); child != BlockId::kNone;
       child = state.disk->orphans.take_child_of(state.blocks, id)) {
    (void)state.tree->attach(child, id);
  }
}

void writing_link(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  record.prev = BlockId::kNone;
  record.next = session.writing;
  if (record.next != BlockId::kNone) state.blocks[record.next].prev = id;
  session.writing = id;
  ++session.writing_count;
}

void writing_unlink(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  (record.prev == BlockId::kNone ? session.writing : state.blocks[record.prev].next) = record.next;
  if (record.next != BlockId::kNone) state.blocks[record.next].prev = record.prev;
  record.prev = record.next = BlockId::kNone;
  --session.writing_count;
}

void writing_give_up(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  writing_unlink(state, session, id);
  --state.slab_of(record.slot).writing_count;
  if (record.state == BlockState::kQuarantined) {
    --state.stats.slots_quarantined;
  } else if (record.state == BlockState::kStocked) {
    stock_of(session).clear(record.stock_entry);
    stock_forget(state, session, id);
  } else {
    block_unpublish(state, id);
    --state.stats.blocks_writing;
  }
  block_free(state, id);
}

}  // namespace kvtier
