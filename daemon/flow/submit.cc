#include "daemon/flow/submit.h"

#include <algorithm>
#include <cstring>

#include "daemon/flow/command.h"
#include "daemon/flow/invalidate.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/put.h"
#include "daemon/flow/restore.h"
#include "daemon/flow/stock.h"
#include "daemon/flow/sums.h"
#include "daemon/flow/sync.h"
#include "daemon/flow/unanswered.h"
#include "daemon/flow/wait.h"

namespace kvtier {
namespace {

// What may be open: each has its place in the completion ring. The library keeps to it.
constexpr std::uint32_t kRequestsOpenMax = kCompletionEntries;

// Blocks saved after which a reservation that waits for more of them is tried again: it takes those, and has the next ones
// written. A group of puts.
constexpr std::uint32_t kUnsavedWake = kDiskGroupMax;

// Until when a reservation waits, and for what.
struct GiveUp {
  TimeNs others_ns = 0;
  TimeNs saving_ns = 0;
};

bool run_reserve(const Command& command, const GiveUp& give_up) {
  std::vector<Key>& keys = command.state.scratch.keys;
  if (!command_keys(command, sizeof(ReserveHead), keys)) return false;
  ReserveInput input{.keys = keys};
  const auto bytes = command_arena(command, reserve_request_bytes(command.submission.count));
  if (bytes.empty()) return false;
  if (command.session.request.is_read_only) return command.answer(Code::kDenied), true;
  const Space* space = command_space(command);
  if (space == nullptr) return true;
  std::memcpy(&input.parent, bytes.data(), sizeof input.parent);
  const auto results = bytes.subspan(reserve_results_offset(command.submission.count));
  const TimeNs now = command.state.now();
  const ReserveEnd end =
      put_reserve(command.state, command.session, command.submission, input, results,
                  {.for_others = now < give_up.others_ns, .for_saving = now < give_up.saving_ns});
  if (end == ReserveEnd::kAnswered) return true;
  ++command.session.requests_open;
  const std::uint32_t missing = command.state.scratch.taken.missing;
  command.state.deferred.push_back({.session = command.session.index,
                                    .session_id = command.session.id,
                                    .submission = command.submission,
                                    .give_up_ns = give_up.others_ns,
                                    .saving_give_up_ns = give_up.saving_ns,
                                    .is_for_saving = end == ReserveEnd::kWaitsForSaving,
                                    .tenant = command.session.tenant,
                                    .slot_class = space->slot_class,
                                    .unsaved = std::clamp<std::uint32_t>(missing, 1, kUnsavedWake)});
  return true;
}

GiveUp patience(const Command& command) {
  const TimeNs now = command.state.now();
  const TimeNs asked = command.submission.deadline_ns == 0 ? kNever : command.submission.deadline_ns;
  return {.others_ns = std::min(now + kAnswerPatienceNs, asked),
          .saving_ns = std::min(now + command.state.options.disk_wait_ns, asked)};
}

// When a deferred reservation is tried again although nothing came.
TimeNs wakes_ns(const Deferred& each) {
  return each.is_for_saving ? each.saving_give_up_ns : each.give_up_ns;
}

bool run_end(const Command& command) {
  std::vector<Hold>& holds = command.state.scratch.holds;
  if (!command_holds(command, holds)) return false;
  const bool is_commit = command.submission.op == Op::kCommit;
  const HoldsEnded ended = is_commit ? put_commit(command.state, command.session, holds)
                                     : put_abort(command.state, command.session, holds);
  const bool is_asked = (command.submission.flags & kFlagReply) != 0;
  if (is_asked) command.answer(ended.first, command.submission.count, ended.codes, ended.cause);
  return true;
}

// No answer: what came of it is in the stock. Nothing for who may not write, or a space that takes no blocks now.
bool run_stock(const Command& command) {
  const std::uint32_t count = command.submission.count;
  if (count == 0 || count > kStockEntries) return false;
  Session& session = command.session;
  const Space* space = command.state.space(command.state.tenant_of(session), command.submission.space);
  if (space != nullptr && !space->is_invalidated && !session.request.is_read_only)
    stock_refill(command.state, session, command.submission.space, count);
  auto& done = reinterpret_cast<ChannelHeader*>(session.channel.data())->stock_refills;
  done.fetch_add(1, std::memory_order_release);  // after the offers
  return true;
}

// Not for who only reads: it would decide what stays, and what the owners' pins are worth.
bool run_pin(const Command& command) {
  std::vector<Key>& keys = command.state.scratch.keys;
  if (!command_keys(command, 0, keys)) return false;
  if (command.session.request.is_read_only) return command.answer(Code::kDenied), true;
  const TimeNs ttl_ns = command.submission.args[0];
  if (command.submission.op == Op::kUnpin) {
    command.answer(Code::kOk, unpin_keys(command.state, command.session, command.submission.space, keys));
    return true;
  }
  if (ttl_ns == 0 || ttl_ns > kPinTtlNsMax) return command.answer(Code::kInvalid), true;
  std::uint32_t count = 0;
  const Code code = pin_keys(command.state, command.session, command.submission.space, keys, ttl_ns, count);
  command.answer(code, count);
  return true;
}

bool run_wait(const Command& command) {
  std::vector<Key>& keys = command.state.scratch.keys;
  if (!command_keys(command, 0, keys)) return false;
  wait_start(command.state, command.session, command.submission, keys);
  return true;
}

bool run_restore(const Command& command) {
  std::vector<Key>& keys = command.state.scratch.keys;
  if (!command_keys(command, 0, keys)) return false;
  if (command_space(command) == nullptr) return true;
  restore_start(command, keys);
  return true;
}

bool run_invalidate(const Command& command) {
  if (command.session.request.is_read_only) return command.answer(Code::kDenied), true;
  const SpaceId id = command.submission.space;
  if (id != SpaceId::kNone && command.state.space(command.state.tenant_of(command.session), id) == nullptr) {
    return command.answer(Code::kNotFound), true;
  }
  if (!invalidate_start(command.state, command.session, command.submission)) command.answer(Code::kBusy);
  return true;
}

bool run(const Command& command) {
  switch (command.submission.op) {
    case Op::kEcho:
      return command.answer(Code::kOk), true;
    case Op::kReserve:
      return run_reserve(command, patience(command));
    case Op::kCommit:
    case Op::kAbort:
      return run_end(command);
    case Op::kWait:
      return run_wait(command);
    case Op::kCancel:
      wait_cancel(command.state, command.session, static_cast<std::uint32_t>(command.submission.args[0]));
      return true;
    case Op::kPin:
    case Op::kUnpin:
      return run_pin(command);
    case Op::kInvalidate:
      return run_invalidate(command);
    case Op::kStock:
      return run_stock(command);
    case Op::kRestore:
      return run_restore(command);
    case Op::kSums:
      return sums_start(command);
    case Op::kSync:
      return sync_start(command);
  }
  return false;
}

}  // namespace

bool submit_command(StoreState& state, Session& session, const Submission& submission, std::string& why) {
  if (session.requests_open >= kRequestsOpenMax) {
    why = "more than " + std::to_string(kRequestsOpenMax) + " requests open";
  } else if (!run({state, session, submission})) {
    why = "command " + std::to_string(static_cast<unsigned>(submission.op)) + " with " +
          std::to_string(submission.count) + " items at arena offset " +
          std::to_string(submission.arena_offset) + " is not one of the protocol's";
  }
  if (why.empty()) return true;
  ++state.stats.protocol_errors;
  return false;
}

std::size_t deferred_step(StoreState& state) {
  std::size_t ended = 0;
  const TimeNs now = state.now();
  // What is deferred again meanwhile stands behind these, for the next step.
  for (std::size_t i = 0, count = state.deferred.size(); i < count; ++i) {
    const Deferred each = state.deferred[i];
    if (!each.is_ready && now < wakes_ns(each)) continue;
    state.deferred[i].session = SessionIndex::kNone;
    Session* session = state.session(each.session, each.session_id);
    if (session == nullptr) continue;
    --session->requests_open;
    (void)run_reserve({state, *session, each.submission}, {each.give_up_ns, each.saving_give_up_ns});
    ++ended;
  }
  std::erase_if(state.deferred, [](const Deferred& each) { return each.session == SessionIndex::kNone; });
  state.stats.reserves_deferred = state.deferred.size();
  return ended;
}

TimeNs deferred_next_deadline(const StoreState& state) {
  TimeNs next = kNever;
  for (const Deferred& each : state.deferred) next = std::min(next, each.is_ready ? 0 : wakes_ns(each));
  return next;
}

}  // namespace kvtier
