#include "daemon/flow/holder.h"

#include "daemon/flow/pin.h"

namespace kvtier {
namespace {

Holder leaser_of(StoreState& state, const BlockRecord& record) {
  const Slab& slab = state.slab_of(record.slot);
  for (const SessionIndex index : state.tenants[record.tenant].sessions) {
    Session* session = state.session(index);
    if (Pins::is_pinned(session->pin(slab, record.slot.slot(), state.pins_stride)))
      return {Cause::kPinnedBy, session};
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
      return {Cause::kWriterBusy, state.session(SessionIndex{record.writer})};
    case BlockState::kCold:
      return {};
    case BlockState::kRestoring:
      return {Cause::kTierFull, nullptr};
    case BlockState::kReady:
      if ((record.flags & kBlockPinned) != 0) return {Cause::kPinnedBy, pin_holder(state, id)};
      if ((record.flags & kBlockBusy) != 0) return {Cause::kTierFull, nullptr};
      return leaser_of(state, record);
    default: {
      const Holder leaser = leaser_of(state, record);  // draining
      return leaser.cause != Cause::kNone ? leaser : Holder{Cause::kTierFull, nullptr};
    }
  }
}

}  // namespace kvtier
