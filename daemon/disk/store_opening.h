#pragma once
// How a store opens: all paths are looked at, it is decided what they are, and the epoch is raised, durably, before
// anything else is written. A refusal writes nothing.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/store_choice.h"
#include "daemon/disk/store_look.h"

namespace kvtier {

class StoreOpening {
 public:
  StoreOpening(StoreShared& shared, std::span<const std::unique_ptr<StorePath>> paths);

  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  [[nodiscard]] bool is_refused() const { return step_ == Step::kRefused; }
  [[nodiscard]] const Status& status() const { return status_; }

  /// Others open without a path that could not be read, or that judge_paths() leaves out.
  [[nodiscard]] bool has_path(std::size_t i) const { return is_in_[i]; }
  /// After is_done(), of a path that is in.
  [[nodiscard]] const std::vector<SegmentSurvey::Found>& found(std::size_t i) const {
    return look_.paths()[i]->survey.found();
  }
  /// The last life ended cleanly on every path.
  [[nodiscard]] bool was_closed() const { return was_closed_; }

  /// Notes a clean end: every segment is sealed and flushed. is_written() some rounds later.
  void write_closed();
  [[nodiscard]] bool is_written() const;
  [[nodiscard]] Status write_status() const;

 private:
  enum class Step : std::uint8_t { kLook, kRaise, kDone, kRefused };

  void after_look(TimeNs now_ns);
  void take(const StoreChoice& choice);
  void after_raise();
  void refuse(const Status& status);

  StoreShared& shared_;
  StoreLook look_;
  std::vector<Superblock> blocks_;  ///< as they are written, of the same positions
  std::vector<bool> is_in_;         ///< the same
  JobStep<Step> step_{shared_.io.changes(), Step::kLook};
  Status status_;
  bool was_closed_ = false;
};

}  // namespace kvtier
