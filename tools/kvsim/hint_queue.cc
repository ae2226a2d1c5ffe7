#include "tools/kvsim/hint_queue.h"

namespace kvtier::sim {

UseHint hint_of(const Request& request) {
  switch (request.stop) {
    case Stop::kToolUse:
      return UseHint::kToolCall;
    case Stop::kEndTurn:
      return UseHint::kTurnEnded;
    case Stop::kEndSession:
      return UseHint::kSessionEnded;
    case Stop::kUnknown:
      break;
  }
  return UseHint::kNone;
}

HintSet hints_of(const Trace& trace) {
  HintSet hints;
  for (const Request& request : trace.requests) {
    if (request.stop != Stop::kUnknown) hints.add(hint_of(request));
  }
  return hints;
}

void HintQueue::served(Place place) {
  const Request& request = trace_.requests[place];
  if (given_.has(UseHint::kSessionEnded) && request.session != 0)
    of_session_[request.session].push_back(place);
  if (given_.has(hint_of(request))) due_.push({request.time_ms + request.answer_ms, place});
}

std::optional<HintQueue::Due> HintQueue::take(std::uint64_t now_ms) {
  if (due_.empty() || due_.top().time_ms > now_ms) return std::nullopt;
  const Due due = due_.top();
  due_.pop();
  return due;
}

std::vector<HintQueue::Place> HintQueue::concerned(Place place) const {
  const Request& request = trace_.requests[place];
  if (request.stop != Stop::kEndSession) return {place};
  const std::vector<Place>& all = of_session_[request.session];
  return {all.rbegin(), all.rend()};
}

}  // namespace kvtier::sim
