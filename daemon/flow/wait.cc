#include "daemon/flow/wait.h"

#include <algorithm>
#include <iterator>

namespace kvtier {
namespace {

// Of one session's open waits together: two calls of 65,536 keys.
constexpr std::size_t kBlocksMax = std::size_t{1} << 17;

void answer(StoreState& state, const Wait& wait, Code code) {
  const Session* session = state.session(wait.session, wait.session_id);
  if (session == nullptr) return;
  state.complete(*session, {.request_id = wait.request_id, .code = code, .count = wait.ready});
}

// It leaves `waits`: answered, or nobody listens any more.
void settle_account(StoreState& state, const Wait& wait) {
  Session* session = state.session(wait.session, wait.session_id);
  if (session == nullptr) return;
  --session->requests_open;
  session->blocks_waited_for -= static_cast<std::uint32_t>(wait.blocks.size());
}

void forget(StoreState& state, std::uint32_t number, const Wait& wait) {
  settle_account(state, wait);
  for (const BlockId block : wait.blocks) {
    auto [begin, end] = state.waits_by_block.equal_range(index_of(block));
    for (auto it = begin; it != end; ++it) {
      if (it->second.wait != number) continue;
      state.waits_by_block.erase(it);
      break;
    }
  }
}

// `pending` is sorted; `blocks` are its different ones.
void link(StoreState& state, std::uint32_t number, const std::vector<BlockId>& blocks,
          const std::vector<BlockId>& pending) {
  auto first = pending.begin();
  for (const BlockId block : blocks) {
    const auto last = std::upper_bound(first, pending.end(), block);
    state.waits_by_block.emplace(index_of(block), WaitedBy{number, static_cast<std::uint32_t>(last - first)});
    first = last;
  }
}

template <class Predicate>
std::size_t end_where(StoreState& state, Code code, Predicate&& is_over) {
  std::size_t ended = 0;
  for (auto it = state.waits.begin(); it != state.waits.end();) {
    if (!is_over(it->second)) {
      ++it;
      continue;
    }
    if (code != Code::kOk) answer(state, it->second, code);
    forget(state, it->first, it->second);
    it = state.waits.erase(it);
    ++ended;
  }
  state.stats.waits_open = state.waits.size();
  return ended;
}

}  // namespace

void wait_start(StoreState& state, Session& session, const Submission& submission,
                std::span<const Key> keys) {
  Wait wait{.session = session.index, .session_id = session.id, .request_id = submission.request_id};
  wait.deadline_ns = submission.deadline_ns == 0 ? kNever : submission.deadline_ns;
  std::vector<BlockId> pending;  // a key may be there many times
  for (const Key& key : keys) {
    const BlockId id = state.index->find(session.tenant, submission.space, key);
    if (id == BlockId::kNone) continue;
    if (state.blocks[id].state == BlockState::kReady) ++wait.ready;
    if (state.blocks[id].state == BlockState::kWriting) pending.push_back(id);
  }
  std::ranges::sort(pending);
  std::ranges::unique_copy(pending, std::back_inserter(wait.blocks));
  wait.unresolved = static_cast<std::uint32_t>(wait.blocks.size());
  if (wait.unresolved == 0) return answer(state, wait, Code::kOk);
  if (wait.deadline_ns <= state.now()) return answer(state, wait, Code::kDeadline);
  if (wait.blocks.size() > kBlocksMax - session.blocks_waited_for) return answer(state, wait, Code::kBusy);
  ++session.requests_open;
  session.blocks_waited_for += wait.unresolved;
  const std::uint32_t number = state.next_wait++;
  link(state, number, wait.blocks, pending);
  state.waits.emplace(number, std::move(wait));
  state.stats.waits_open = state.waits.size();
}

void wait_cancel(StoreState& state, Session& session, std::uint32_t request_id) {
  end_where(state, Code::kDeadline, [&](const Wait& wait) {
    return wait.session == session.index && wait.session_id == session.id && wait.request_id == request_id;
  });
}

void waits_resolve(StoreState& state, BlockId id, bool is_ready) {
  if (state.waits_by_block.empty()) return;
  auto [begin, end] = state.waits_by_block.equal_range(index_of(id));
  for (auto it = begin; it != end; ++it) {
    const auto found = state.waits.find(it->second.wait);
    KV_CHECK(found != state.waits.end(), "a wait is there as long as one of its blocks is pending");
    Wait& wait = found->second;
    if (is_ready) wait.ready += it->second.keys;
    if (--wait.unresolved > 0) continue;
    answer(state, wait, Code::kOk);
    settle_account(state, wait);
    state.waits.erase(found);
  }
  state.waits_by_block.erase(begin, end);
  state.stats.waits_open = state.waits.size();
}

std::size_t waits_expire(StoreState& state) {
  if (state.waits.empty()) return 0;
  const TimeNs now = state.now();
  return end_where(state, Code::kDeadline, [now](const Wait& wait) { return wait.deadline_ns <= now; });
}

void waits_forget(StoreState& state, const Session& session) {
  end_where(state, Code::kOk, [&](const Wait& wait) { return wait.session_id == session.id; });
}

TimeNs waits_next_deadline(const StoreState& state) {
  TimeNs next = kNever;
  for (const auto& [number, wait] : state.waits) next = std::min(next, wait.deadline_ns);
  return next;
}

}  // namespace kvtier
