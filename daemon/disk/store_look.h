#pragma once
// The first look at all paths of a store: superblocks, then header and trailer of each segment. Nothing is written, and
// nothing is decided but what a path alone says.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/job_step.h"
#include "daemon/disk/segment_survey.h"
#include "daemon/disk/store_choice.h"
#include "daemon/disk/superblock_io.h"

namespace kvtier {

class StoreLook {
 public:
  struct Path {
    Path(StoreShared& shared, StorePath& given)
        : path(given), superblock(shared, given), survey(shared, given) {}
    [[nodiscard]] PathFinding finding() const;

    StorePath& path;
    SuperblockIo superblock;
    SegmentSurvey survey;
    SuperblockChoice choice;
    bool is_in = true;  ///< false: it could not be read, superblock.status() says why
  };

  StoreLook(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths);

  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  [[nodiscard]] bool is_refused() const { return step_ == Step::kRefused; }
  /// Of the refusal: no path can be read, or one that can is not this program's, or another version's.
  [[nodiscard]] const Status& status() const { return status_; }
  /// In the order of those given.
  [[nodiscard]] std::span<const std::unique_ptr<Path>> paths() const { return paths_; }

 private:
  enum class Step : std::uint8_t { kBegin, kSuperblocks, kSurvey, kDone, kRefused };

  void after_superblocks();
  void begin_survey(Path& path);
  void after_survey();
  void refuse(const Status& status);

  StoreShared& shared_;
  std::vector<std::unique_ptr<Path>> paths_;
  JobStep<Step> step_{shared_.io.changes(), Step::kBegin};
  Status status_;
};

}  // namespace kvtier
