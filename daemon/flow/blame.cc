#include "daemon/flow/blame.h"

#include "daemon/flow/rebalance.h"
#include "daemon/flow/unanswered.h"

namespace kvtier {
namespace {

bool is_final(const SlotOutcome& outcome) {
  return outcome.cause == Cause::kIndexFull || outcome.cause == Cause::kRequestTooLarge;
}

// There would be room if somebody did not keep a block in every slab of another slot size or namespace.
void blame_keeper(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (outcome.cause == Cause::kPinnedBy) return;
  const EmptyingRefusal* refusal =
      rebalance_refusal(state, *request.tenant, request.slot_class, outcome.cause);
  if (refusal == nullptr) return;
  outcome.cause = refusal->cause;
  outcome.holder_pid = refusal->pid;
}

// There would be room if who was asked for it had answered. Leases are the truer cause: they stay.
void blame_silence(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (outcome.cause == Cause::kPinnedBy || outcome.cause == Cause::kWriterBusy) return;
  Session* silent = unanswered_by(state, *request.tenant, request.slot_class, *request.session);
  if (silent == nullptr) return;
  outcome.cause = Cause::kWriterBusy;
  outcome.holder_pid = silent->request.pid;
  silent->refused_for_ns = state.now();
}

// What the session reserved last, as a mark: while it is there none of its reservations of now is known to have ended.
bool holds_still(StoreState& state, const Session& session) {
  if (session.hoarded == BlockId::kNone) return false;
  const BlockRecord& record = state.blocks[session.hoarded];
  const bool is_open = record.state == BlockState::kWriting || record.state == BlockState::kQuarantined ||
                       record.state == BlockState::kStocked;
  return is_open && record.generation == session.hoarded_generation &&
         record.writer == index_of(session.index);
}

void remember(StoreState& state, Session& session) {
  if (holds_still(state, session)) return;
  session.hoarded = session.writing;
  session.hoarded_generation = state.blocks[session.writing].generation;
  session.hoarded_ns = state.now();
}

// There is room, in slabs that are other writers': each keeps its slab while it has blocks reserved there, however few.
void blame_lending(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  SlotClass& of = request.tenant->classes[request.slot_class];
  const std::uint64_t missing = request.count - outcome.slots.size();
  if (outcome.cause != Cause::kTierFull || of.slots_free < missing) return;
  outcome.cause = Cause::kWriterBusy;
  of.lent_out_ns = state.now();
}

// There would be room if what is reserved had been committed or aborted: who has most of it, the asking one included,
// with what it was just given and keeps. Leases that keep fewer blocks are not the reason.
void blame_reservations(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (outcome.cause == Cause::kWriterBusy) return;
  const auto kept_by_itself =
      request.is_all_or_nothing ? 0 : static_cast<std::uint32_t>(outcome.slots.size());
  Session* most = nullptr;
  std::uint32_t writing = outcome.cause == Cause::kPinnedBy ? outcome.pinned_count : 0;
  for (const SessionIndex index : request.tenant->sessions) {
    Session* session = state.session(index);
    const std::uint32_t given = session == request.session ? kept_by_itself : 0;
    if (session->writing_count + given <= writing) continue;
    most = session;
    writing = session->writing_count + given;
  }
  if (most == nullptr) return;
  outcome.cause = Cause::kWriterBusy;
  outcome.holder_pid = most->request.pid;
  if (most != request.session) remember(state, *most);
}

}  // namespace

void blame(StoreState& state, const SlotRequest& request, SlotOutcome& outcome) {
  if (is_final(outcome)) return;
  if (slots_is_hopeless(state, request)) {
    if (outcome.cause != Cause::kQuota) outcome.cause = Cause::kRequestTooLarge;
    return;
  }
  blame_keeper(state, request, outcome);
  blame_silence(state, request, outcome);
  blame_lending(state, request, outcome);
  blame_reservations(state, request, outcome);
}

std::vector<Hoarder> blame_hoarders(StoreState& state) {
  std::vector<Hoarder> list;
  for (const auto& session : state.sessions) {
    if (session == nullptr || session->life != Session::Life::kAttached)
      continue;  // zombies are named anyway
    if (!holds_still(state, *session)) continue;
    list.push_back({.session = session.get(),
                    .blocks = session->writing_count - session->stocked_count,
                    .since_ns = session->hoarded_ns});
  }
  return list;
}

}  // namespace kvtier
