#pragma once
// The folders of the tier at start, up to files that a store may open. All of them are owned and looked at before any is
// changed: what is left out, and all of them after a refusal, are as they were, without anything that this start made. Which
// is which says judge_paths(). Calls the system and waits for it.

#include <vector>

#include "daemon/disk/files_look.h"
#include "daemon/tier/path_opening.h"

namespace kvtier {

class PathSet {
 public:
  struct Each {
    std::size_t place = 0;  ///< in the settings
    OwnedPath owned;
    PathFinding finding;
    PathSizeOptions size;
  };

  /// All are borrowed and outlive it. `facts`: one a folder, filled in here.
  PathSet(const PathOpeningOptions& options, const DiskStoreOptions& store, std::vector<DiskPathFacts>& facts)
      : options_(options), store_(store), facts_(facts) {}

  /// Those that do not open are left out, with the cause.
  void own(const std::vector<DiskFolder>& folders);
  /// Decides what all of them are. Not ok: the store is not to be opened. Those that are not to be in it, or have no room, are
  /// left out.
  Status look();
  /// After look() said ok: files get their sizes. Those that find no room are left out.
  void settle();
  /// After it did not: what own() made is removed.
  void disown();
  void leave_out(std::size_t i, const Status& status);

  /// Those that are not left out.
  [[nodiscard]] std::vector<Each>& all() { return all_; }
  /// What look() left out may be a path of the store.
  [[nodiscard]] bool is_path_left_out() const { return is_path_left_out_; }
  /// Those that are not left out, as a store takes them, in that order.
  [[nodiscard]] std::vector<StoreFile> files() const;

 private:
  [[nodiscard]] Status own_one(const DiskFolder& folder, std::size_t place);
  [[nodiscard]] Result<std::vector<PathFinding>> look_at_all() const;
  [[nodiscard]] std::vector<PathFinding> findings() const;
  void give_up_copies();
  Status judge();
  Status plan();
  [[nodiscard]] Status choose() const;

  const PathOpeningOptions& options_;
  const DiskStoreOptions& store_;
  std::vector<DiskPathFacts>& facts_;
  std::vector<Each> all_;
  bool is_path_left_out_ = false;
};

}  // namespace kvtier
