#include "daemon/flow/holder.h"

#include "daemon/flow/pin.h"

namespace kvtier {
namespace {

Holder pinner_of(StoreState& state, BlockId id) {
  const Pin* pin = pin_of(state, id);
  if (pin == nullptr) return {.cause = Cause::kPinnedBy};
  Session* session = state.session(pin->session, pin->session_id);
  return {.cause = Cause::kPinnedBy, .session = session, .closed_pid = session == nullptr ? pin->pid : 0};
}

Holder leaser_of(StoreState& state, const BlockRecord& record) {
  const Slab& slab = state.slab_of(record.slot);
  for (const SessionIndex index : state.tenants[record.tenant].sessions) {
    Session* session = state.session(index);
    if (Pins::is_pinned(session->pin(slab, record.slot.slot(), state.pins_stride)))
      return {.cause = Cause::kPinnedBy, .session = session};
  }
  return {};
}

}  // namespace

Holder holder_of(StoreState& state, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  switch (record.state) {
    case BlockState::kWriting:
    case BlockState::kQuarantined:
    case BlockState::kStocked:
      return {.cause = Cause::kWriterBusy, .session = state.session(SessionIndex{record.writer})};
    case BlockState::kCold:
      return {};
    case BlockState::kRestoring:
      return {.cause = Cause::kTierFull};
    case BlockState::kReady:
      if ((record.flags & kBlockPinned) != 0) return pinner_of(state, id);
      if ((record.flags & kBlockBusy) != 0) return {.cause = Cause::kTierFull};
      return leaser_of(state, record);
    default: {
      const Holder leaser = leaser_of(state, record);  // draining
      return leaser.cause != Cause::kNone ? leaser : Holder{.cause = Cause::kTierFull};
    }
  }
}

}  // namespace kvtier
