// The store's side of the NVMe tier, for who builds and ends the daemon.
#include "daemon/flow/disk_open.h"
#include "daemon/flow/state.h"
#include "daemon/flow/store.h"

namespace kvtier {

Result<SpaceIds> Store::disk_space(std::string_view namespace_name, std::span<const std::byte> encoding) {
  return kvtier::disk_space(*state_, namespace_name, encoding);
}

void Store::disk_open() {
  if (state_->disk) state_->disk->is_open_wanted = true;
}

void Store::disk_close() {
  if (!state_->disk || disk_is_over()) return;
  DiskTier& disk = *state_->disk;
  disk.is_close_wanted = true;
  if (disk.life == DiskTier::Life::kShut) disk.life = DiskTier::Life::kClosed;
}

bool Store::disk_is_known() const {
  return !state_->disk || state_->disk->life >= DiskTier::Life::kReady;
}

bool Store::disk_is_over() const {
  return !state_->disk || state_->disk->life >= DiskTier::Life::kClosed;
}

}  // namespace kvtier
