// What kvc_commit and kvc_abort share: holds go out in records of up to four, in order, without waiting.

#include <algorithm>
#include <array>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/request_call.h"
#include "libkvclient/src/reserve.h"

namespace kvtier::client {
namespace {

bool is_reserved(const kvc_slot& slot) {
  return slot.code == KVC_OK && slot.data != nullptr;
}

// Slots that go into one record, and the record.
struct Batch {
  std::array<kvc_slot*, kInlineHolds> slots{};
  Submission record{};
};

void add(Batch& batch, kvc_slot& slot) {
  batch.slots[batch.record.count] = &slot;
  batch.record.holds[batch.record.count++] = {slot.private_hold[0], slot.private_hold[1]};
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

void give_back(Core& core, const kvc_slot& slot) {
  const std::shared_ptr<Session> session = core.session_of(slot_serial(slot.private_session));
  bool wants_service = false;
  if (session && session->mappings.give_back(SlotRef{slot.private_slot}, &wants_service)) {
    // release: the writes into the slot are before the count that lets the service thread unmap it.
    session->users.fetch_sub(1, std::memory_order_release);
    core.counts.reservations_open.fetch_sub(1, std::memory_order_relaxed);
  }
  if (wants_service) core.wake_service();
}

// The caller has let go of every slot, whether its record goes out or not. Before it goes out: from then on
// the daemon may grant the slot again, or ask for its slab.
void give_back(Core& core, const Batch& batch) {
  for (std::uint32_t i = 0; i < batch.record.count; ++i) give_back(core, *batch.slots[i]);
}

// What became of a record, and of each of its holds.
struct Outcome {
  Status status;
  HoldCodes codes = 0;
  Cause cause = Cause::kNone;  ///< of those that are stale
};

Outcome outcome_of_all(const Status& status) {
  Outcome outcome{status};
  for (std::size_t i = 0; i < kInlineHolds; ++i) {
    outcome.codes = with_hold_code(outcome.codes, i, status.code());
  }
  return outcome;
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

Outcome send_awaited(Core& core, Requests& requests, Submission record, TimeNs deadline_ns) {
  RequestCall call;
  call.submission = record;
  call.submission.flags |= kFlagReply;
  const Result<Completion> answer = request(core, requests, call, deadline_ns);
  if (!answer.is_ok()) return outcome_of_all(answer.status());
  const Status status = status_of(answer.value(), record.op == Op::kCommit ? "commit" : "abort");
  // No code at all: a daemon that knows none a hold.
  if (answer.value().value == 0) return outcome_of_all(status);
  return {status, answer.value().value, answer.value().cause};
}

Status check_epoch(const Batch& batch, const Link& link) {
  const bool is_current = std::all_of(
      batch.slots.begin(), batch.slots.begin() + batch.record.count,
      [&](auto* slot) { return slot->private_session == slot_session(link.session->serial, link.epoch); });
  if (is_current) return Status::ok();
  return {Code::kStale, "reserved in an earlier session; the daemon has taken the room back"};
}

Outcome send_batch(Core& core, const Result<BoundLink>& bound, const Batch& batch, bool is_awaited,
                   TimeNs deadline_ns) {
  if (!bound.is_ok()) return outcome_of_all(bound.status());
  const Status is_current = check_epoch(batch, bound.value().link);
  if (!is_current.is_ok()) return outcome_of_all(is_current);
  (void)KV_FAULT("client.finish.before_publish");
  Requests& requests = *bound.value().link.requests;
  if (is_awaited) return send_awaited(core, requests, batch.record, deadline_ns);
  return outcome_of_all(core.or_closed(requests.push(batch.record, deadline_ns)));
}

}  // namespace

Status finish_slots(Space& space, Op op, std::span<kvc_slot> slots, bool is_awaited, TimeNs deadline_ns) {
  Core& core = *space.core;
  KV_RETURN_IF_ERROR(check_owner(core, slots));
  const Result<BoundLink> bound = core.bound_link(space);
  Status first_failure;
  const auto end = [&](Batch& batch) {
    if (batch.record.count == 0) return;
    batch.record.op = op;
    batch.record.space = bound.is_ok() ? bound.value().binding.space : SpaceId::kNone;
    batch.record.arena_offset = kNoArena;
    give_back(core, batch);
    const Outcome outcome = send_batch(core, bound, batch, is_awaited, deadline_ns);
    (void)KV_FAULT("client.finish.published");
    if (first_failure.is_ok()) first_failure = outcome.status;
    auto& count = op == Op::kCommit ? core.counts.commit_blocks : core.counts.abort_blocks;
    count.fetch_add(finish(batch, outcome), std::memory_order_relaxed);
    batch = {};
  };
  Batch batch;
  for (kvc_slot& slot : slots) {
    if (!is_reserved(slot)) continue;
    add(batch, slot);
    if (batch.record.count == kInlineHolds) end(batch);
  }
  end(batch);
  return first_failure;
}

}  // namespace kvtier::client
