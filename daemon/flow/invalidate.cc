#include "daemon/flow/invalidate.h"

#include <algorithm>

#include "daemon/flow/cool.h"
#include "daemon/flow/disk_mark.h"
#include "daemon/flow/purge.h"
#include "daemon/flow/restore.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kStep = 1024;
constexpr std::ptrdiff_t kOpenMax =
    16;  // of one session: each is a walk over all blocks, and others wait for it

bool concerns(const Invalidation& job, const BlockRecord& record) {
  switch (record.state) {
    case BlockState::kReady:
    case BlockState::kWriting:
    case BlockState::kStocked:
    case BlockState::kCold:
    case BlockState::kRestoring:
      break;
    default:
      return false;
  }
  return record.tenant == index_of(job.tenant) && (job.space == SpaceId::kNone || job.space == record.space);
}

void mark(StoreState& state, const Invalidation& job, bool is_invalidated) {
  Tenant& tenant = state.tenants[index_of(job.tenant)];
  for (std::size_t i = 0; i < tenant.spaces.size(); ++i) {
    if (job.space == SpaceId::kNone || static_cast<std::uint32_t>(job.space) == i + 1) {
      tenant.spaces[i].is_invalidated = is_invalidated;
    }
  }
}

// Takes new blocks again: what is put from here on lies behind the mark.
void finish(StoreState& state, const Invalidation& job) {
  Code code = Code::kOk;
  const bool is_marking = disk_mark(state, job, {}, code);
  mark(state, job, false);
  if (!is_marking) invalidation_answer(state, job, code);
}

// The blocks that are gone with it.
std::uint32_t remove(StoreState& state, BlockId id) {
  switch (state.blocks[id].state) {
    case BlockState::kStocked:
      stock_withdraw(state, *state.session(SessionIndex{state.blocks[id].writer}), id);
      return 0;
    case BlockState::kWriting:
      block_disown(state, id);
      return 1;
    case BlockState::kCold:
      cold_drop(state, id);
      break;
    case BlockState::kRestoring:
      restore_drop(state, id);
      break;
    default:
      block_drop(state, id);
  }
  ++state.stats.evictions_invalidated;
  return 1;
}

}  // namespace

bool invalidate_start(StoreState& state, Session& session, const Submission& submission) {
  const auto open = std::ranges::count(state.invalidations, session.id, &Invalidation::session_id) +
                    std::ranges::count(state.marking, session.id, &Invalidation::session_id);
  if (open >= kOpenMax) return false;
  ++session.requests_open;
  const Invalidation job{.tenant = session.tenant,
                         .space = submission.space,
                         .session = session.index,
                         .session_id = session.id,
                         .request_id = submission.request_id};
  invalidate_begin(state, job);
  return true;
}

void invalidate_begin(StoreState& state, const Invalidation& job) {
  mark(state, job, true);
  state.invalidations.push_back(job);
}

void invalidation_answer(StoreState& state, const Invalidation& job, Code code) {
  if (job.purge != 0) return purge_on_done(state, job.purge, code, job.count);
  Session* session = state.session(job.session, job.session_id);
  if (session == nullptr || job.is_disowned) return;
  --session->requests_open;
  state.complete(*session, {.request_id = job.request_id, .code = code, .count = job.count});
}

void invalidations_disown(StoreState& state, const Session& session) {
  for (Invalidation& job : state.invalidations) job.is_disowned |= job.session_id == session.id;
  for (Invalidation& job : state.marking) job.is_disowned |= job.session_id == session.id;
}

std::size_t invalidate_step(StoreState& state) {
  if (state.invalidations.empty()) return 0;
  Invalidation& job = state.invalidations.front();
  const std::uint32_t end = std::min(state.blocks.limit(), job.next_block + kStep);
  const std::size_t looked = end - job.next_block;
  for (; job.next_block < end; ++job.next_block) {
    const BlockId id{job.next_block};
    const BlockRecord& record = state.blocks[id];
    if (concerns(job, record)) job.count += remove(state, id);
  }
  if (job.next_block >= state.blocks.limit() && !disk_delays_invalidations(state)) {
    const Invalidation done = job;
    state.invalidations.pop_front();
    finish(state, done);
    return looked + 1;
  }
  return looked;
}

TimeNs invalidations_next_ns(const StoreState& state) {
  if (state.invalidations.empty()) return kNever;
  const bool has_walked = state.invalidations.front().next_block >= state.blocks.limit();
  return has_walked && disk_delays_invalidations(state) ? kNever : 0;
}

}  // namespace kvtier
