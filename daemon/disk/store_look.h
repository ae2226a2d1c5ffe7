#pragma once
// The first look at all paths of a store: superblocks, then header and trailer of each segment. Nothing is written, and
// nothing is decided but what a path alone says.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/job_step.h"
#include "daemon/disk/path_finding.h"
#include "daemon/disk/segment_survey.h"
#include "daemon/disk/superblock_io.h"

namespace kvtier {

class StoreLook {
 public:
  struct Path {
    Path(StoreShared& shared, StorePath& given)
        : path(given), superblock(shared, given), survey(shared, given) {}
    [[nodiscard]] PathFinding finding() const;
    void fail(const Status& why);

    StorePath& path;
    SuperblockIo superblock;
    SegmentSurvey survey;
    SuperblockChoice choice;
    Status status;           ///< not ok: what it holds is not known
    bool is_unread = false;  ///< of those: the device failed
  };

  StoreLook(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths);

  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  /// In the order of those given.
  [[nodiscard]] std::span<const std::unique_ptr<Path>> paths() const { return paths_; }

 private:
  enum class Step : std::uint8_t { kBegin, kSuperblocks, kSurvey, kDone };

  void after_superblocks();
  void begin_survey(Path& path);
  void after_survey();

  StoreShared& shared_;
  std::vector<std::unique_ptr<Path>> paths_;
  JobStep<Step> step_{shared_.io.changes(), Step::kBegin};
};

}  // namespace kvtier
