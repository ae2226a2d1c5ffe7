#include "daemon/disk/store_opening.h"

#include <algorithm>

namespace kvtier {

StoreOpening::StoreOpening(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths)
    : shared_(shared), look_(shared, paths), blocks_(paths.size()), is_in_(paths.size(), true) {}

void StoreOpening::refuse(const Status& status) {
  status_ = status;
  step_ = Step::kRefused;
}

void StoreOpening::step(TimeNs now_ns) {
  if (step_ == Step::kLook) {
    look_.step(now_ns);
    if (look_.is_done()) after_look(now_ns);
    return;
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (is_in_[i]) look_.paths()[i]->superblock.step(now_ns);
  }
  if (step_ == Step::kRaise && is_written()) after_raise();
}

void StoreOpening::after_look(TimeNs now_ns) {
  std::vector<PathFinding> findings;
  for (const auto& each : look_.paths()) {
    findings.push_back(each->finding());
    shared_.generation = std::max(shared_.generation, each->survey.generation_max());
  }
  const std::uint64_t wall_ns = now_ns + shared_.options.wall_minus_monotonic_ns;
  const Result<StoreChoice> choice = choose_store(findings, shared_.options, wall_ns);
  if (!choice.is_ok()) return refuse(choice.status());
  take(choice.value());
}

void StoreOpening::take(const StoreChoice& choice) {
  std::size_t at = 0;
  shared_.is_path_missing = choice.is_path_missing;
  shared_.paths_given_up = choice.given_up_count;
  was_closed_ = std::ranges::all_of(look_.paths(), [](const auto& each) {
    const Superblock& block = each->choice.superblock;
    return each->status.is_ok() && !each->choice.is_new && block.closed_epoch == block.epoch;
  });
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    StoreLook::Path& each = *look_.paths()[i];
    is_in_[i] = choice.verdicts[i].is_ok();
    if (!is_in_[i]) continue;
    const Superblock& block = blocks_[i] = choice.superblocks[at++];
    StorePath& path = each.path;
    path.number = block.path;
    path.store = block.store;
    path.geometry = {block.segment_bytes, block.alignment};
    path.segments = SegmentTable(static_cast<std::uint32_t>(each.survey.found().size()));
    shared_.epoch = block.epoch;
    each.superblock.write(block);
  }
  step_ = Step::kRaise;
}

// A path whose epoch could not be raised is not written, and not read: it was there, and is missing now.
void StoreOpening::after_raise() {
  Status failure;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Status& status = look_.paths()[i]->superblock.status();
    if (!is_in_[i] || status.is_ok()) continue;
    failure = status;
    is_in_[i] = false;
    shared_.is_path_missing = true;
  }
  if (std::ranges::none_of(is_in_, [](bool is_in) { return is_in; })) return refuse(failure);
  step_ = Step::kDone;
}

void StoreOpening::write_closed() {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    StoreLook::Path& each = *look_.paths()[i];
    if (!is_in_[i]) continue;
    blocks_[i].closed_epoch = blocks_[i].epoch;
    ++blocks_[i].revision;
    each.superblock.write(blocks_[i]);
  }
}

bool StoreOpening::is_written() const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (is_in_[i] && !look_.paths()[i]->superblock.is_done()) return false;
  }
  return true;
}

Status StoreOpening::write_status() const {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Status& status = look_.paths()[i]->superblock.status();
    if (is_in_[i] && !status.is_ok()) return status;
  }
  return Status::ok();
}

}  // namespace kvtier
