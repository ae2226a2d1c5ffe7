#include "daemon/flow/invalidate.h"

#include <algorithm>

#include "daemon/flow/stock.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kStep = 1024;
constexpr std::ptrdiff_t kOpenMax =
    16;  // of one session: each is a walk over all blocks, and others wait for it

bool concerns(const Invalidation& job, const BlockRecord& record) {
  if (record.state != BlockState::kReady && record.state != BlockState::kWriting &&
      record.state != BlockState::kStocked) {
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

void finish(StoreState& state, const Invalidation& job) {
  mark(state, job, false);
  Session* session = state.session(job.session, job.session_id);
  if (session == nullptr || job.is_disowned) return;
  --session->requests_open;
  state.complete(*session, {.request_id = job.request_id, .count = job.count});
}

}  // namespace

bool invalidate_start(StoreState& state, Session& session, const Submission& submission) {
  const auto open = std::ranges::count(state.invalidations, session.id, &Invalidation::session_id);
  if (open >= kOpenMax) return false;
  ++session.requests_open;
  const Invalidation job{.tenant = session.tenant,
                         .space = submission.space,
                         .session = session.index,
                         .session_id = session.id,
                         .request_id = submission.request_id};
  mark(state, job, true);
  state.invalidations.push_back(job);
  return true;
}

void invalidations_disown(StoreState& state, const Session& session) {
  for (Invalidation& job : state.invalidations) job.is_disowned |= job.session_id == session.id;
}

std::size_t invalidate_step(StoreState& state) {
  if (state.invalidations.empty()) return 0;
  Invalidation& job = state.invalidations.front();
  const std::uint32_t end = std::min(state.blocks.limit(), job.next_block + kStep);
  const std::size_t looked = end - job.next_block + 1;
  for (; job.next_block < end; ++job.next_block) {
    const BlockId id{job.next_block};
    const BlockRecord& record = state.blocks[id];
    if (!concerns(job, record)) continue;
    if (record.state == BlockState::kStocked) {
      stock_withdraw(state, *state.session(SessionIndex{record.writer}), id);
      continue;
    }
    if (record.state == BlockState::kReady) {
      block_drop(state, id);
      ++state.stats.evictions_invalidated;
    } else {
      block_disown(state, id);
    }
    ++job.count;
  }
  if (job.next_block >= state.blocks.limit()) {
    const Invalidation done = job;
    state.invalidations.pop_front();
    finish(state, done);
  }
  return looked;
}

}  // namespace kvtier
