#include "daemon/flow/disk_reclaim.h"

#include "daemon/flow/cool.h"
#include "daemon/flow/demote.h"
#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

// What was used since then is worth a write.
constexpr std::uint32_t kRecentMs = 60'000;

// The block whose copy is exactly this one; kNone: nobody's is.
BlockId named_by(StoreState& state, const DiskNews& news, const DiskLocator& locator) {
  if (index_of(news.tenant) >= state.tenants.size()) return BlockId::kNone;
  const BlockId id = state.index->find(news.tenant, news.space, news.key);
  if (id == BlockId::kNone || (state.blocks[id].flags & kBlockOnDisk) == 0) return BlockId::kNone;
  return state.disk->locators[index_of(id)] == locator ? id : BlockId::kNone;
}

bool is_hot(const StoreState& state, const BlockRecord& record) {
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  return record.hits > 0 || now_ms - record.access_ms < kRecentMs || record.state == BlockState::kRestoring;
}

// It may be written again when it is cold.
void lose(StoreState& state, BlockId id) {
  const BlockRecord& record = state.blocks[id];
  Tenant& tenant = state.tenants[record.tenant];
  demote_is_due(state, tenant, tenant.spaces[static_cast<std::uint32_t>(record.space) - 1].slot_class);
  copy_lost(state, id);
}

}  // namespace

void disk_on_question(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.locator);
  DiskCommand command;
  command.kind = DiskCommandKind::kAnswer;
  command.tag = news.tag;
  if (id != BlockId::kNone) {
    command.answer = is_hot(state, state.blocks[id]) ? ReclaimAnswer::kKeep : ReclaimAnswer::kDrop;
    if (command.answer == ReclaimAnswer::kDrop) lose(state, id);
  }
  disk_send(state, command);
}

void disk_on_moved(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.old);
  if (id == BlockId::kNone) return disk_forget(state, news.locator);
  disk_attach(state, id, news.locator);
}

void disk_on_dropped(StoreState& state, const DiskNews& news) {
  const BlockId id = named_by(state, news, news.old);
  if (id == BlockId::kNone) return;
  ++state.stats.disk_lost;
  lose(state, id);
}

}  // namespace kvtier
