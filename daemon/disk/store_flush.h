#pragma once
// Flushes and marks on their way: what has to be written first, then the syncs of all paths, then one event.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/path_writer.h"

namespace kvtier {

/// A path as these jobs know it.
struct JobPath {
  StorePath* path = nullptr;
  PathWriter* writer = nullptr;
};

class StoreFlush {
 public:
  StoreFlush(StoreShared& shared, std::size_t paths_max);
  void set_paths(std::vector<JobPath> paths) { paths_ = std::move(paths); }

  /// With one event reserved. False: flushes_max are under way.
  [[nodiscard]] bool begin(std::uint64_t tag);
  void step();
  [[nodiscard]] bool is_idle() const { return jobs_.empty(); }

 private:
  struct PathPart {
    std::uint64_t number = 0;  ///< puts before it are waited for
    std::uint64_t ticket = 0;
    std::uint64_t failures = 0;  ///< of syncs, when the flush was asked for
    std::uint64_t answered = 0;  ///< puts, when the ticket was taken
    bool is_waiting = true;      ///< for puts
    bool is_over = false;
  };
  struct Job {
    std::uint64_t tag = 0;
    Code code = Code::kOk;
    std::size_t parts = 0;  ///< place in parts_
  };

  [[nodiscard]] bool step_part(Job& job, std::size_t at);
  [[nodiscard]] PathPart& part(const Job& job, std::size_t at) { return parts_[job.parts + at]; }

  StoreShared& shared_;
  std::vector<JobPath> paths_;
  std::vector<Job> jobs_;
  std::vector<PathPart> parts_;  ///< paths_max for each of flushes_max jobs
  std::vector<std::size_t> free_parts_;
  std::vector<std::uint64_t> reported_failures_;  ///< a path: of syncs, that a flush has told
};

class StoreMarks {
 public:
  explicit StoreMarks(StoreShared& shared);
  void set_paths(std::vector<JobPath> paths) { paths_ = std::move(paths); }

  /// With one event reserved. Copies on every path that serves, two where it is one. kBusy, kUnavailable, kNoSpace
  /// (marks_max of which none stands for another): nothing was done.
  [[nodiscard]] Code begin(const DiskMark& mark, std::uint64_t born);
  void on_write(const OwnWrite& write);
  void step();
  [[nodiscard]] bool is_idle() const { return jobs_.empty(); }

 private:
  struct Job {
    std::uint64_t id = 0;
    std::uint64_t tag = 0;
    RecordOrder order;
    Code code = Code::kOk;
    std::uint32_t copies = 0;  ///< not written yet
    bool is_syncing = false;
    std::size_t tickets = 0;  ///< place in tickets_
  };
  [[nodiscard]] SyncResult synced(const Job& job) const;

  StoreShared& shared_;
  std::vector<JobPath> paths_;
  DiskRecord shape_{};  ///< neither parts nor sums
  std::vector<Job> jobs_;
  std::vector<std::uint64_t> tickets_;  ///< kPathsMax for each of flushes_max jobs
  std::vector<std::size_t> free_tickets_;
  std::uint64_t next_id_ = 1;
};

}  // namespace kvtier
