#include "daemon/flow/admin_kept.h"

#include "daemon/flow/holder.h"

namespace kvtier {

void admin_count_kept(StoreState& state, BlockId id, KeptCounts& kept) {
  const BlockRecord& record = state.blocks[id];
  if (record.state == BlockState::kWriting) {
    ++kept.writing;
  } else if (record.state == BlockState::kCold) {
    ++kept.on_disk;
  } else if (record.state == BlockState::kRestoring) {
    ++kept.other;
  } else if (record.state != BlockState::kReady) {
    return;
  } else if ((record.flags & kBlockPinned) != 0) {
    ++kept.pinned;
  } else if (holder_of(state, id).cause == Cause::kPinnedBy) {
    ++kept.leased;
  } else {
    ++(state.tree->has_host_children(id) ? kept.parents : kept.other);
  }
}

}  // namespace kvtier
