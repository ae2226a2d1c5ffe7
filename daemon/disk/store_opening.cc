#include "daemon/disk/store_opening.h"

#include <algorithm>

namespace kvtier {

StoreOpening::StoreOpening(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths)
    : shared_(shared) {
  for (const auto& path : paths) paths_.push_back(std::make_unique<Path>(shared, *path));
}

void StoreOpening::refuse(const Status& status) {
  status_ = status;
  step_ = Step::kRefused;
}

void StoreOpening::step(TimeNs now_ns) {
  if (step_ == Step::kBegin) {
    for (const auto& each : paths_) each->superblock.read(now_ns);
    step_ = Step::kSuperblocks;
  }
  bool is_pending = false;
  for (const auto& each : paths_) {
    if (!each->is_in) continue;
    each->superblock.step(now_ns);
    if (step_ == Step::kSurvey) each->survey.step(now_ns);
    is_pending =
        is_pending || !each->superblock.is_done() || (step_ == Step::kSurvey && !each->survey.is_done());
  }
  if (is_pending) return;
  if (step_ == Step::kSuperblocks) return after_superblocks();
  if (step_ == Step::kSurvey) return after_survey(now_ns);
  if (step_ == Step::kRaise) return after_raise();
}

// False: none is left.
bool StoreOpening::leave_out_failed() {
  for (const auto& each : paths_) each->is_in = each->is_in && each->superblock.status().is_ok();
  return std::any_of(paths_.begin(), paths_.end(), [](const auto& each) { return each->is_in; });
}

void StoreOpening::after_superblocks() {
  if (!leave_out_failed()) return refuse(paths_.front()->superblock.status());
  for (const auto& each : paths_) {
    if (!each->is_in) continue;
    Result<SuperblockChoice> choice = each->superblock.choose();
    if (!choice.is_ok()) return refuse(choice.status());
    each->choice = choice.value();
    begin_survey(*each);
  }
  step_ = Step::kSurvey;
}

void StoreOpening::begin_survey(Path& path) {
  const Superblock& block = path.choice.superblock;
  const bool is_new = path.choice.is_new;
  const SegmentGeometry geometry =
      is_new ? SegmentGeometry{shared_.options.segment_bytes, shared_.options.alignment}
             : SegmentGeometry{block.segment_bytes, block.alignment};
  const std::uint64_t count = segments_in(path.path.file.bytes, geometry.segment_bytes);
  path.survey.start(geometry, block.store, block.path, static_cast<std::uint32_t>(count));
}

void StoreOpening::after_survey(TimeNs now_ns) {
  std::vector<PathFinding> findings;
  for (const auto& each : paths_) {
    if (!each->is_in) continue;
    if (each->survey.has_other_version()) {
      return refuse({Code::kVersion,
                     "a segment is of another format version than this program's: start the program that "
                     "wrote it. Nothing was changed."});
    }
    findings.push_back({.file = each->path.file,
                        .superblock = each->choice,
                        .has_content = each->survey.has_content(),
                        .epoch_max = each->survey.epoch_max()});
    shared_.generation = std::max(shared_.generation, each->survey.generation_max());
  }
  const std::uint64_t wall_ns = now_ns + shared_.options.wall_minus_monotonic_ns;
  Result<StoreChoice> choice = choose_store(findings, shared_.options, wall_ns);
  if (!choice.is_ok()) return refuse(choice.status());
  for (const auto& each : paths_) {
    // What cannot be read may be the store that the others would be made anew beside.
    if (choice.value().is_new && !each->is_in) return refuse(each->superblock.status());
  }
  take(choice.value());
}

void StoreOpening::take(const StoreChoice& choice) {
  is_fresh_ = !choice.is_new && shared_.options.home == HomePolicy::kFresh;
  std::size_t at = 0;
  shared_.is_path_missing = choice.is_path_missing;
  was_closed_ = std::all_of(paths_.begin(), paths_.end(), [](const auto& each) {
    const Superblock& block = each->choice.superblock;
    return each->is_in && !each->choice.is_new && block.closed_epoch == block.epoch;
  });
  for (const auto& each : paths_) {
    if (!each->is_in) {
      shared_.is_path_missing = true;
      continue;
    }
    each->block = choice.superblocks[at++];
    StorePath& path = each->path;
    path.number = each->block.path;
    path.store = each->block.store;
    path.geometry = {each->block.segment_bytes, each->block.alignment};
    path.segments = SegmentTable(static_cast<std::uint32_t>(each->survey.found().size()));
    shared_.epoch = each->block.epoch;
    each->superblock.write(each->block);
  }
  step_ = Step::kRaise;
}

// A path whose epoch could not be raised is not written, and not read: it was there, and is missing now.
void StoreOpening::after_raise() {
  if (!leave_out_failed()) return refuse(paths_.front()->superblock.status());
  for (const auto& each : paths_) shared_.is_path_missing = shared_.is_path_missing || !each->is_in;
  step_ = Step::kDone;
}

void StoreOpening::write_closed() {
  for (const auto& each : paths_) {
    if (!each->is_in) continue;
    each->block.closed_epoch = each->block.epoch;
    ++each->block.revision;
    each->superblock.write(each->block);
  }
}

bool StoreOpening::is_written() const {
  return std::all_of(paths_.begin(), paths_.end(),
                     [](const auto& each) { return !each->is_in || each->superblock.is_done(); });
}

Status StoreOpening::write_status() const {
  for (const auto& each : paths_) {
    if (each->is_in && !each->superblock.status().is_ok()) return each->superblock.status();
  }
  return Status::ok();
}

}  // namespace kvtier
