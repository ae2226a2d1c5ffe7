// What kvc_commit and kvc_abort share: holds go out in records of up to four, in order, without waiting for the daemon
// unless that is asked for. A commit that finds no place in the ring before its deadline, or has so many slots that it
// passes meanwhile, leaves the rest as they were; an abort is never refused: the library sends it later.

#include <algorithm>
#include <array>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/answer.h"
#include "libkvclient/src/pace.h"
#include "libkvclient/src/request_call.h"
#include "libkvclient/src/reserve.h"

namespace kvtier::client {
namespace {

bool is_reserved(const kvc_slot& slot) {
  return slot.code == KVC_OK && slot.data != nullptr;
}

// Slots that go into one record, all of one session, and the record.
struct Batch {
  std::array<kvc_slot*, kInlineHolds> slots{};
  Submission record{};
  bool is_let_go = false;  ///< no longer the caller's
  std::array<bool, kInlineHolds>
      was_ended{};  ///< before, through a copy of the slot; known once it is let go
};

void add(Batch& batch, kvc_slot& slot) {
  batch.slots[batch.record.count] = &slot;
  batch.record.holds[batch.record.count++] = grant_of(slot).hold;
}

// A session with an open reservation is kept, so that one that this client does not know is another client's.
Status check_owner(const Core& core, std::span<const kvc_slot> slots) {
  std::uint32_t known = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::uint32_t serial = slot_serial(slots[i].private_session);
    if (!is_reserved(slots[i]) || serial == known) continue;
    if (!core.session_of(serial)) {
      return {Code::kInvalid,
              "slots[" + std::to_string(i) + "] was reserved through another client: end it there"};
    }
    known = serial;
  }
  return Status::ok();
}

// False: it was ended before.
bool give_back(Core& core, const kvc_slot& slot) {
  const std::shared_ptr<Session> session = core.session_of(slot_serial(slot.private_session));
  bool wants_service = false;
  const bool is_ours = session && session->mappings.give_back(grant_of(slot), &wants_service);
  if (is_ours) {
    // release: the writes into the slot are before the count that lets the service thread unmap it.
    session->users.fetch_sub(1, std::memory_order_release);
    core.counts.reservations_open.fetch_sub(1, std::memory_order_relaxed);
  }
  if (wants_service) core.wake_service();
  return is_ours;
}

// Before the record goes out: from then on the daemon may grant the slot again, or ask for its slab. Not earlier: a
// slot whose record finds no place stays the caller's.
void let_go(Core& core, Batch& batch) {
  if (batch.is_let_go) return;
  batch.is_let_go = true;
  for (std::uint32_t i = 0; i < batch.record.count; ++i)
    batch.was_ended[i] = !give_back(core, *batch.slots[i]);
}

// What became of a record, and of each of its holds.
struct Outcome {
  Status status;
  HoldCodes codes = 0;
  Cause cause = Cause::kNone;  ///< of those that are stale
  bool has_codes = false;      ///< of its own for each hold; else all are as the status
};

Outcome outcome_of_all(const Status& status) {
  Outcome outcome{status};
  for (std::size_t i = 0; i < kInlineHolds; ++i) {
    outcome.codes = with_hold_code(outcome.codes, i, status.code());
  }
  return outcome;
}

// Nobody waits for the daemon's answer, which would say the same.
void mark_ended(const Batch& batch, Outcome& outcome) {
  for (std::uint32_t i = 0; i < batch.record.count; ++i) {
    if (!batch.was_ended[i]) continue;
    outcome.codes = with_hold_code(outcome.codes, i, Code::kInvalid);
    outcome.has_codes = true;
  }
}

// How many of the batch the daemon, as far as is known, has taken.
std::uint32_t finish(const Batch& batch, const Outcome& outcome) {
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < batch.record.count; ++i) {
    const Code code = hold_code(outcome.codes, i);
    batch.slots[i]->data = nullptr;
    batch.slots[i]->code = static_cast<std::int32_t>(code);
    if (code == Code::kStale) batch.slots[i]->cause = static_cast<std::int32_t>(outcome.cause);
    done += code == Code::kOk ? 1 : 0;
  }
  return done;
}

Outcome send_awaited(Core& core, Requests& requests, Batch& batch, TimeNs deadline_ns) {
  RequestCall call;
  call.submission = batch.record;
  call.submission.flags |= kFlagReply;
  call.before_send = [&] { let_go(core, batch); };
  const Result<Completion> answer = request(core, requests, call, deadline_ns);
  if (!answer.is_ok()) return outcome_of_all(answer.status());
  const Status status = status_of(answer.value(), batch.record.op);
  // No code at all: a daemon that knows none a hold.
  if (answer.value().value == 0) return outcome_of_all(status);
  return {status, answer.value().value, answer.value().cause, true};
}

Status send_unawaited(Core& core, Requests& requests, Batch& batch, TimeNs deadline_ns) {
  KV_RETURN_IF_ERROR(requests.take_place(deadline_ns));
  let_go(core, batch);
  return requests.push(batch.record);
}

Status check_epoch(const Batch& batch, const Link& link) {
  if (batch.slots[0]->private_session == slot_session(link.session->serial, link.epoch)) return Status::ok();
  return {Code::kStale, "reserved in an earlier session; the daemon has taken the room back"};
}

class Finisher {
 public:
  Finisher(Space& space, Op op, std::span<kvc_slot> slots, bool is_awaited, TimeNs deadline_ns)
      : core_(*space.core),
        bound_(core_.bound_link(space)),
        op_(op),
        slots_(slots),
        is_awaited_(is_awaited),
        deadline_ns_(deadline_ns),
        pace_(deadline_ns) {}

  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;
  // Once, for all: the service thread sends what found no place.
  ~Finisher() {
    if (has_late_aborts_) core_.wake_service();
  }

  /// False: the deadline has passed, and what was not handed over stays the caller's.
  bool end(Batch& batch) {
    if (batch.record.count == 0) return true;
    is_late_ = pace_.is_over();
    pace_.add(batch.record.count);
    batch.record.op = op_;
    batch.record.space = bound_.is_ok() ? bound_.value().binding.space : SpaceId::kNone;
    batch.record.arena_offset = kNoArena;
    Outcome outcome = send(batch);
    (void)KV_FAULT("client.finish.published");
    const bool is_left = outcome.status.code() == Code::kDeadline && !batch.is_let_go;
    if (is_left && op_ == Op::kAbort) outcome = abort_later(batch);
    const bool is_late = outcome.status.code() == Code::kDeadline;
    // A deadline is said whatever else was: slots may be the caller's still.
    if (first_failure_.is_ok() || is_late) first_failure_ = named(batch, outcome);
    if (is_late && !batch.is_let_go) return false;
    let_go(core_, batch);
    auto& count = op_ == Op::kCommit ? core_.counts.commit_blocks : core_.counts.abort_blocks;
    count.fetch_add(finish(batch, outcome), std::memory_order_relaxed);
    batch = {};
    return !is_late || op_ == Op::kAbort;
  }

  [[nodiscard]] const Status& first_failure() const { return first_failure_; }

 private:
  Outcome send(Batch& batch) {
    if (!bound_.is_ok()) return outcome_of_all(bound_.status());
    const Status is_current = check_epoch(batch, bound_.value().link);
    if (!is_current.is_ok()) return outcome_of_all(is_current);
    if (is_late_)
      return outcome_of_all({Code::kDeadline, "the deadline passed before all slots were handed over"});
    (void)KV_FAULT("client.finish.before_publish");
    Requests& requests = *bound_.value().link.requests;
    if (is_awaited_) return send_awaited(core_, requests, batch, deadline_ns_);
    Outcome outcome = outcome_of_all(core_.or_closed(send_unawaited(core_, requests, batch, deadline_ns_)));
    if (outcome.status.is_ok()) mark_ended(batch, outcome);
    return outcome;
  }

  // Says which slot the answer is about.
  [[nodiscard]] Status named(const Batch& batch, const Outcome& outcome) const {
    for (std::uint32_t i = 0; outcome.has_codes && i < batch.record.count; ++i) {
      const Code code = hold_code(outcome.codes, i);
      if (code == Code::kOk) continue;
      const std::string which = "slots[" + std::to_string(batch.slots[i] - slots_.data()) + "]";
      const char* call = op_ == Op::kCommit ? "kvc_commit: " : "kvc_abort: ";
      return {code, call + which + ": " + reason_of(op_, code, outcome.cause, 0)};
    }
    return outcome.status;
  }

  // The daemon learns of it when it takes records again. Who asked to wait for that is told that it is not so yet.
  Outcome abort_later(Batch& batch) {
    let_go(core_, batch);
    bound_.value().link.requests->push_abort(batch.record);
    has_late_aborts_ = true;
    Outcome outcome;
    mark_ended(batch, outcome);
    if (!is_awaited_) return outcome;
    return outcome_of_all(
        {Code::kDeadline, "not all was handed over before the deadline: the rest goes out later"});
  }

  Core& core_;
  const Result<BoundLink> bound_;
  const Op op_;
  const std::span<kvc_slot> slots_;
  const bool is_awaited_;
  const TimeNs deadline_ns_;
  Pace pace_;
  bool is_late_ = false;
  bool has_late_aborts_ = false;
  Status first_failure_;
};

}  // namespace

Status finish_slots(Space& space, Op op, std::span<kvc_slot> slots, bool is_awaited, TimeNs deadline_ns) {
  KV_RETURN_IF_ERROR(check_owner(*space.core, slots));
  Finisher finisher(space, op, slots, is_awaited, deadline_ns);
  Batch batch;
  for (kvc_slot& slot : slots) {
    if (!is_reserved(slot)) continue;
    // One of an earlier session takes no others with it.
    const bool is_of_another =
        batch.record.count > 0 && batch.slots[0]->private_session != slot.private_session;
    if (is_of_another && !finisher.end(batch)) return finisher.first_failure();
    add(batch, slot);
    if (batch.record.count == kInlineHolds && !finisher.end(batch)) return finisher.first_failure();
  }
  (void)finisher.end(batch);
  return finisher.first_failure();
}

}  // namespace kvtier::client
