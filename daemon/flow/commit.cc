#include "daemon/flow/checksums.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/place.h"
#include "daemon/flow/put.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

// The block that a hold names, if this session reserved it and has not ended it yet.
BlockId resolve(StoreState& state, const Session& session, const Hold& hold) {
  if (!state.blocks.is_valid(hold.block)) return BlockId::kNone;
  const BlockRecord& record = state.blocks[BlockId{hold.block}];
  const bool is_open = record.state == BlockState::kWriting || record.state == BlockState::kStocked ||
                       record.state == BlockState::kQuarantined;
  if (!is_open || record.writer != index_of(session.index)) return BlockId::kNone;
  return static_cast<std::uint32_t>(record.generation) == hold.generation_low ? BlockId{hold.block}
                                                                              : BlockId::kNone;
}

Code publish(StoreState& state, Session& session, BlockId id) {
  BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenant_of(session);
  const Space& space = state.space_of(record);
  if (record.state == BlockState::kQuarantined || space.is_invalidated) {
    writing_give_up(state, session, id);
    ++state.stats.commits_refused;
    return Code::kStale;
  }
  if (record.state == BlockState::kStocked) {
    const Code named = stock_name(state, session, id);
    if (named != Code::kOk) return named;
  }
  Slab& slab = state.slab_of(record.slot);
  writing_unlink(state, session, id);
  --slab.writing_count;
  record.writer = kNoWriter;
  record.access_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  KV_CHECK(slab.table().publish(record.slot.slot(), record.generation),
           "a block being written has a writing slot");
  state.blocks.set_state(id, BlockState::kReady);
  (void)tenant.directory.update(record.space, record.key, directory_residency(record));
  order_insert(state, id);
  --state.stats.blocks_writing;
  ++state.stats.blocks_ready;
  ++tenant.blocks_ready;
  ++state.stats.commits;
  state.stats.committed_bytes += space.block_bytes;
  checksum_schedule(state, id);
  demote_committed(state, id);
  waits_resolve(state, id, true);
  return Code::kOk;
}

}  // namespace

HoldsEnded put_commit(StoreState& state, Session& session, std::span<const Hold> holds) {
  HoldsEnded ended;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const BlockId id = resolve(state, session, holds[i]);
    const Code code = id == BlockId::kNone ? Code::kInvalid : publish(state, session, id);
    ended.note(i, code);
    // A session that came back does not commit what it lost in between: only an invalidation ends a block here.
    if (code == Code::kStale) ended.cause = Cause::kInvalidated;
    if (id == BlockId::kNone) ++state.stats.commits_refused;
  }
  return ended;
}

HoldsEnded put_abort(StoreState& state, Session& session, std::span<const Hold> holds) {
  HoldsEnded ended;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    const BlockId id = resolve(state, session, holds[i]);
    ended.note(i, id == BlockId::kNone ? Code::kInvalid : Code::kOk);
    if (id == BlockId::kNone) continue;
    writing_give_up(state, session, id);
    ++state.stats.aborts;
  }
  return ended;
}

void put_reclaim(StoreState& state, Session& session) {
  while (session.writing != BlockId::kNone) {
    const bool is_reserved = state.blocks[session.writing].state != BlockState::kStocked;
    writing_give_up(state, session, session.writing);
    state.stats.aborts_by_exit += is_reserved ? 1 : 0;
  }
}

void put_reclaim_slab(StoreState& state, Session& session, SlabIndex slab) {
  for (BlockId id = session.writing; id != BlockId::kNone;) {
    const BlockRecord& record = state.blocks[id];
    const BlockId next = record.next;
    const bool is_lost = record.state == BlockState::kQuarantined;
    if (is_lost && record.slot.slab() == index_of(slab)) writing_give_up(state, session, id);
    id = next;
  }
}

void put_disown(StoreState& state, Session& session) {
  for (BlockId id = session.writing; id != BlockId::kNone;) {
    const BlockId next = state.blocks[id].next;
    if (state.blocks[id].state == BlockState::kWriting) block_disown(state, id);
    if (state.blocks[id].state == BlockState::kStocked) stock_withdraw(state, session, id);
    id = next;
  }
}

}  // namespace kvtier
