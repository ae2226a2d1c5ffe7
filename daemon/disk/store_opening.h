#pragma once
// How a store opens: superblocks and segments of all paths are read, it is decided what they are, and the epoch is
// raised, durably, before anything else is written. A refusal writes nothing.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/job_step.h"
#include "daemon/disk/segment_survey.h"
#include "daemon/disk/store_choice.h"
#include "daemon/disk/superblock_io.h"

namespace kvtier {

class StoreOpening {
 public:
  StoreOpening(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths);

  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  [[nodiscard]] bool is_refused() const { return step_ == Step::kRefused; }
  [[nodiscard]] const Status& status() const { return status_; }

  /// A path that could not be read is left out where others can: the store opens without it.
  [[nodiscard]] bool has_path(std::size_t i) const { return paths_[i]->is_in; }
  [[nodiscard]] const Status& path_status(std::size_t i) const { return paths_[i]->superblock.status(); }
  /// After is_done(), of a path that is in.
  [[nodiscard]] const std::vector<SegmentSurvey::Found>& found(std::size_t i) const {
    return paths_[i]->survey.found();
  }
  /// Everything on that path is another store's, by the wish of whoever opened it.
  [[nodiscard]] bool is_fresh() const { return is_fresh_; }

  /// The last life ended cleanly on every path.
  [[nodiscard]] bool was_closed() const { return was_closed_; }

  /// Notes a clean end: every segment is sealed and flushed. is_written() some rounds later.
  void write_closed();
  [[nodiscard]] bool is_written() const;
  [[nodiscard]] Status write_status() const;

 private:
  enum class Step : std::uint8_t { kBegin, kSuperblocks, kSurvey, kRaise, kDone, kRefused };
  struct Path {
    Path(StoreShared& shared, StorePath& given)
        : path(given), superblock(shared, given), survey(shared, given) {}
    StorePath& path;
    SuperblockIo superblock;
    SegmentSurvey survey;
    SuperblockChoice choice;
    Superblock block{};  ///< as it is written
    bool is_in = true;
  };

  void after_superblocks();
  void begin_survey(Path& path);
  void after_survey(TimeNs now_ns);
  void take(const StoreChoice& choice);
  void after_raise();
  void refuse(const Status& status);
  [[nodiscard]] bool leave_out_failed();

  StoreShared& shared_;
  std::vector<std::unique_ptr<Path>> paths_;
  JobStep<Step> step_{shared_.io.changes(), Step::kBegin};
  Status status_;
  bool is_fresh_ = false;
  bool was_closed_ = false;
};

}  // namespace kvtier
