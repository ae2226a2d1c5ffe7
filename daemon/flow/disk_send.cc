#include "daemon/flow/disk_send.h"

namespace kvtier {
namespace {

constexpr std::size_t kForgetsStep = 1024;

bool is_over(const DiskTier& disk) {
  return disk.life == DiskTier::Life::kClosed || disk.life == DiskTier::Life::kRefused;
}

std::size_t flush_forgets(DiskTier& disk) {
  std::size_t sent = 0;
  DiskCommand command{.kind = DiskCommandKind::kForget};
  while (sent < kForgetsStep && !disk.forgets.empty()) {
    command.locator = disk.forgets.back();
    if (!disk.port.send(command)) break;
    disk.forgets.pop_back();
    ++sent;
  }
  return sent;
}

}  // namespace

bool disk_has_room(const StoreState& state, std::size_t count) {
  return state.disk->outbox.room() >= count + kDiskAnswersMax;
}

void disk_send(StoreState& state, const DiskCommand& command) {
  state.disk->outbox.push(command);
}

std::size_t disk_flush(StoreState& state) {
  DiskTier& disk = *state.disk;
  if (is_over(disk)) {
    disk.outbox.clear();
    disk.forgets.clear();
    return 0;
  }
  const std::size_t sent = disk.outbox.flush(disk.port);
  return sent + flush_forgets(disk);
}

void disk_attach(StoreState& state, BlockId id, const DiskLocator& locator) {
  disk_detach(state, id);
  state.disk->locators[index_of(id)] = locator;
  BlockRecord& record = state.blocks[id];
  record.flags = static_cast<std::uint16_t>((record.flags | kBlockOnDisk) & ~(kBlockUsed | kBlockDoubtful));
}

void disk_detach(StoreState& state, BlockId id) {
  BlockRecord& record = state.blocks[id];
  if ((record.flags & kBlockOnDisk) == 0) return;
  record.flags &= static_cast<std::uint16_t>(~kBlockOnDisk);
  disk_forget(state, state.disk->locators[index_of(id)]);
  state.disk->locators[index_of(id)] = {};
}

void disk_forget(StoreState& state, const DiskLocator& locator) {
  DiskTier& disk = *state.disk;
  if (is_over(disk)) return;
  // Each names memory of one record or of one piece of news: disk_step takes none while there are many.
  KV_CHECK(disk.forgets.size() < disk.forgets.capacity(), "what is forgotten was named");
  disk.forgets.push_back(locator);
}

DiskCommand disk_command_of(const StoreState& state, BlockId id, DiskCommandKind kind) {
  const BlockRecord& record = state.blocks[id];
  DiskCommand command;
  command.kind = kind;
  command.tenant = NamespaceId{record.tenant};
  command.space = record.space;
  command.key = record.key;
  return command;
}

}  // namespace kvtier
