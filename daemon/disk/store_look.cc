#include "daemon/disk/store_look.h"

namespace kvtier {

PathFinding StoreLook::Path::finding() const {
  return {.file = path.file,
          .status = status,
          .is_unread = is_unread,
          .superblock = choice,
          .has_content = survey.has_content(),
          .epoch_max = survey.epoch_max()};
}

void StoreLook::Path::fail(const Status& why) {
  const std::string& folder = path.file.folder;
  status = folder.empty() ? why : why.while_doing(folder);
}

StoreLook::StoreLook(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths)
    : shared_(shared) {
  for (const auto& path : paths) paths_.push_back(std::make_unique<Path>(shared, *path));
}

void StoreLook::step(TimeNs now_ns) {
  if (step_ == Step::kDone) return;
  if (step_ == Step::kBegin) {
    for (const auto& each : paths_) each->superblock.read(now_ns);
    step_ = Step::kSuperblocks;
  }
  bool is_pending = false;
  for (const auto& each : paths_) {
    if (!each->status.is_ok()) continue;
    each->superblock.step(now_ns);
    if (step_ == Step::kSurvey) each->survey.step(now_ns);
    is_pending =
        is_pending || !each->superblock.is_done() || (step_ == Step::kSurvey && !each->survey.is_done());
  }
  if (is_pending) return;
  step_ == Step::kSuperblocks ? after_superblocks() : after_survey();
}

void StoreLook::after_superblocks() {
  for (const auto& each : paths_) {
    each->is_unread = !each->superblock.status().is_ok();
    if (each->is_unread) {
      each->fail(each->superblock.status());
      continue;
    }
    Result<SuperblockChoice> choice = each->superblock.choose();
    if (!choice.is_ok()) {
      each->fail(choice.status());
      continue;
    }
    each->choice = choice.value();
    begin_survey(*each);
  }
  step_ = Step::kSurvey;
}

void StoreLook::begin_survey(Path& path) {
  const Superblock& block = path.choice.superblock;
  const bool is_new = path.choice.is_new;
  const SegmentGeometry geometry =
      is_new ? SegmentGeometry{shared_.options.segment_bytes, shared_.options.alignment}
             : SegmentGeometry{block.segment_bytes, block.alignment};
  const std::uint64_t count = segments_in(path.path.file.bytes, geometry.segment_bytes);
  path.survey.start(geometry, block.store, block.path, static_cast<std::uint32_t>(count));
}

void StoreLook::after_survey() {
  for (const auto& each : paths_) {
    if (!each->status.is_ok() || !each->survey.has_other_version()) continue;
    each->fail({Code::kVersion,
                "a segment is of another format version than this program's. Nothing was changed: start the "
                "program that wrote it"});
  }
  step_ = Step::kDone;
}

}  // namespace kvtier
