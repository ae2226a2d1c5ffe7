#include "daemon/admin/verify_desk.h"

#include <utility>

namespace kvtier {

Status VerifyDesk::begin(std::uint64_t tag) {
  if (disk_ == nullptr)
    return {Code::kUnsupported, "there is no NVMe tier to verify; see nvme.paths, and kvctl status for why"};
  if (tag_ != 0) return {Code::kBusy, "another verify is under way, and there is one at a time: wait for it"};
  if (stop_tag_ != 0 || !disk_->commands.push({.kind = DiskCommandKind::kVerify, .tag = tag}))
    return {Code::kBusy, "the NVMe tier has as much to do as it can take; retry later"};
  tag_ = tag;
  return Status::ok();
}

void VerifyDesk::end(std::uint64_t tag) {
  if (tag != tag_) return;
  stop_tag_ = std::exchange(tag_, 0);
  (void)step();
}

std::size_t VerifyDesk::step() {
  if (stop_tag_ == 0) return 0;
  if (!disk_->commands.push({.kind = DiskCommandKind::kVerifyStop, .tag = stop_tag_})) return 0;
  stop_tag_ = 0;
  return 1;
}

}  // namespace kvtier
