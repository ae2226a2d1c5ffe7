#include "daemon/flow/wait.h"

#include <algorithm>

namespace kvtier {
namespace {

void answer(StoreState& state, const Wait& wait, Code code) {
  const Session* session = state.session(wait.session, wait.session_id);
  if (session == nullptr) return;
  state.complete(*session, {.request_id = wait.request_id, .code = code, .count = wait.ready});
}

void forget(StoreState& state, std::uint32_t number, const Wait& wait) {
  for (const BlockId block : wait.blocks) {
    auto [begin, end] = state.waits_by_block.equal_range(index_of(block));
    for (auto it = begin; it != end; ++it) {
      if (it->second != number) continue;
      state.waits_by_block.erase(it);
      break;
    }
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
  for (const Key& key : keys) {
    const BlockId id = state.index->find(session.tenant, submission.space, key);
    if (id == BlockId::kNone) continue;
    if (state.blocks[id].state == BlockState::kReady) ++wait.ready;
    if (state.blocks[id].state == BlockState::kWriting) wait.blocks.push_back(id);
  }
  wait.unresolved = static_cast<std::uint32_t>(wait.blocks.size());
  if (wait.unresolved == 0) return answer(state, wait, Code::kOk);
  if (wait.deadline_ns <= state.now()) return answer(state, wait, Code::kDeadline);
  const std::uint32_t number = state.next_wait++;
  for (const BlockId block : wait.blocks) state.waits_by_block.emplace(index_of(block), number);
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
    Wait& wait = state.waits.at(it->second);
    if (is_ready) ++wait.ready;
    if (--wait.unresolved > 0) continue;
    answer(state, wait, Code::kOk);
  }
  state.waits_by_block.erase(begin, end);
  std::erase_if(state.waits, [](const auto& entry) { return entry.second.unresolved == 0; });
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
