#include "daemon/flow/disk_reclaim.h"

#include "daemon/flow/cool.h"
#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

// The block whose copy is exactly this one; kNone: nobody's is.
BlockId named_by(StoreState& state, const DiskNews& news, const DiskLocator& locator) {
  if (index_of(news.tenant) >= state.tenants.size()) return BlockId::kNone;
  const BlockId id = state.index->find(news.tenant, news.space, news.key);
  if (id == BlockId::kNone || (state.blocks[id].flags & kBlockOnDisk) == 0) return BlockId::kNone;
  return state.disk->locators[index_of(id)] == locator ? id : BlockId::kNone;
}

// The second chance: what was used since this copy was written, or moved, is moved once more (disk_attach takes the mark
// away). The rest leaves in the order in which it was written.
bool is_wanted(const BlockRecord& record) {
  return (record.flags & kBlockUsed) != 0 || record.state == BlockState::kRestoring;
}

}  // namespace

void disk_on_question(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.locator);
  DiskCommand command;
  command.kind = DiskCommandKind::kAnswer;
  command.tag = news.tag;
  if (id != BlockId::kNone) {
    command.answer = is_wanted(state.blocks[id]) ? ReclaimAnswer::kKeep : ReclaimAnswer::kDrop;
    // No write is due for it, or a full tier would drop and write the same blocks for ever: whoever needs slots next
    // finds it unsaved.
    if (command.answer == ReclaimAnswer::kDrop) copy_lost(state, id);
  }
  disk_send(state, command);
}

void disk_on_moved(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.old);
  if (id == BlockId::kNone) return disk_forget(state, news.locator);
  disk_attach(state, id, news.locator);
}

// What the scrub could not read is in doubt first, as after a restore (restore_end.cc). A block that is in memory needs no
// second chance: its next copy is another one.
void disk_on_dropped(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.old);
  if (id == BlockId::kNone) return;
  BlockRecord& record = state.blocks[id];
  if (news.code == Code::kSystem && record.state == BlockState::kCold &&
      (record.flags & kBlockDoubtful) == 0) {
    record.flags |= kBlockDoubtful;
    return;
  }
  ++state.stats.disk_lost;
  copy_lost(state, id);
}

}  // namespace kvtier
