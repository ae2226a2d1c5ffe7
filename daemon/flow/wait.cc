#include "daemon/flow/wait.h"

#include <algorithm>
#include <utility>

#include "daemon/flow/sums.h"

namespace kvtier {
namespace {

// Of one session's open waits together: two calls of 65,536 keys.
constexpr std::uint32_t kBlocksMax = 1U << 17;

// It leaves the table: answered, or nobody listens any more.
void close(StoreState& state, std::uint32_t number, const Wait& wait) {
  if (Session* session = state.session(wait.session, wait.session_id); session != nullptr) {
    --session->requests_open;
    session->blocks_waited_for -= wait.blocks;
    session->sums_waited_for -= wait.sums.count;
    if (wait.sums.is_doubt) session->is_doubting = false;
  }
  state.waits.close(number);
}

template <class Predicate>
std::size_t end_where(StoreState& state, Code code, Predicate&& is_over) {
  std::size_t ended = 0;
  state.waits.for_each([&](std::uint32_t number, const Wait& wait) {
    if (!is_over(wait)) return;
    if (code != Code::kOk) wait_answer(state, wait, code);
    close(state, number, wait);
    ++ended;
  });
  state.stats.waits_open = state.waits.size();
  return ended;
}

// The blocks of these keys that are pending, one for each key of theirs: a key may be there many times.
std::vector<BlockId>& find_pending(StoreState& state, Wait& wait, NamespaceId tenant, SpaceId space,
                                   std::span<const Key> keys) {
  std::vector<BlockId>& pending = state.scratch.blocks;
  pending.clear();
  for (const Key& key : keys) {
    const BlockId id = state.index->find(tenant, space, key);
    if (id == BlockId::kNone) continue;
    const BlockState its = state.blocks[id].state;
    if (its == BlockState::kReady) ++wait.ready;
    if (its == BlockState::kWriting || its == BlockState::kRestoring) pending.push_back(id);
  }
  return pending;
}

template <class OnBlock>
void for_each_different(const std::vector<BlockId>& sorted, OnBlock&& on_block) {
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::upper_bound(first, sorted.end(), *first);
    on_block(*first, static_cast<std::uint32_t>(last - first));
    first = last;
  }
}

}  // namespace

void wait_answer(StoreState& state, const Wait& wait, Code code) {
  const Session* session = state.session(wait.session, wait.session_id);
  if (session == nullptr) return;
  const std::uint32_t count = wait.sums.count > 0 ? sums_write(state, *session, wait.sums) : wait.ready;
  state.complete(*session, {.request_id = wait.request_id, .code = code, .count = count});
}

void wait_start(StoreState& state, Session& session, const Submission& submission,
                std::span<const Key> keys) {
  Wait wait{.session = session.index, .session_id = session.id, .request_id = submission.request_id};
  wait.deadline_ns = submission.deadline_ns == 0 ? kNever : submission.deadline_ns;
  wait_begin(state, session, wait, find_pending(state, wait, session.tenant, submission.space, keys));
}

void wait_begin(StoreState& state, Session& session, Wait wait, std::vector<BlockId>& blocks) {
  std::ranges::sort(blocks);
  for_each_different(blocks, [&](BlockId, std::uint32_t) { ++wait.blocks; });
  wait.unresolved = wait.blocks;
  if (wait.blocks == 0) return wait_answer(state, wait, Code::kOk);
  if (wait.deadline_ns <= state.now()) return wait_answer(state, wait, Code::kDeadline);
  const bool has_room =
      wait.blocks <= kBlocksMax - session.blocks_waited_for && state.waits.has_room(wait.blocks);
  if (!has_room) return wait_answer(state, wait, Code::kBusy);
  ++session.requests_open;
  session.blocks_waited_for += wait.blocks;
  session.sums_waited_for += wait.sums.count;
  if (wait.sums.is_doubt) session.is_doubting = true;
  const std::uint32_t number = state.waits.open(wait);
  for_each_different(blocks, [&](BlockId id, std::uint32_t count) { state.waits.link(number, id, count); });
  state.stats.waits_open = state.waits.size();
}

void wait_cancel(StoreState& state, Session& session, std::uint32_t request_id) {
  end_where(state, Code::kDeadline, [&](const Wait& wait) {
    return wait.session == session.index && wait.session_id == session.id && wait.request_id == request_id;
  });
}

void waits_resolve(StoreState& state, BlockId id, bool is_ready) {
  if (state.waits.is_empty()) return;
  state.waits.resolve(id, [&](std::uint32_t number, Wait& wait, std::uint32_t keys) {
    if (is_ready) wait.ready += keys;
    if (--wait.unresolved > 0) return;
    wait_answer(state, wait, Code::kOk);
    close(state, number, wait);
  });
  state.stats.waits_open = state.waits.size();
}

std::size_t waits_expire(StoreState& state) {
  if (state.waits.is_empty()) return 0;
  const TimeNs now = state.now();
  return end_where(state, Code::kDeadline, [now](const Wait& wait) { return wait.deadline_ns <= now; });
}

void waits_forget(StoreState& state, const Session& session) {
  end_where(state, Code::kOk, [&](const Wait& wait) { return wait.session_id == session.id; });
}

TimeNs waits_next_deadline(const StoreState& state) {
  TimeNs next = kNever;
  std::as_const(state.waits).for_each([&](const Wait& wait) { next = std::min(next, wait.deadline_ns); });
  return next;
}

}  // namespace kvtier
