#pragma once
// From segments to entries: all footers are read once for marks and for what each segment is, segments without one are
// scanned and sealed, then all footers are read again and their blocks delivered, those that a mark voids left out. The
// memory is that of a few footers, however large the store.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/footer_load.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/path_writer.h"
#include "daemon/disk/segment_scan.h"
#include "daemon/disk/segment_survey.h"

namespace kvtier {

class StoreRecovery {
 public:
  struct Path {
    StorePath* path = nullptr;
    PathWriter* writer = nullptr;
    const std::vector<SegmentSurvey::Found>* found = nullptr;
  };

  /// `spare`: the memory of one more footer; `scan`: SegmentScan's. The store's, which nobody else uses meanwhile.
  StoreRecovery(StoreShared& shared, std::vector<Path> paths, std::span<std::byte> spare,
                std::span<std::byte> scan);

  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return step_ == Step::kDone; }
  [[nodiscard]] std::uint64_t done() const { return done_count_; }
  [[nodiscard]] std::uint64_t total() const { return total_count_; }

 private:
  enum class Step : std::uint8_t { kFooters, kScans, kEntries, kDone };
  struct Cursor {
    std::size_t path = 0;
    std::uint32_t segment = 0;
  };
  struct Load {
    Load(StoreShared& shared, std::span<std::byte> buffer) : footer(shared, buffer) {}
    FooterLoad footer;
    bool is_busy = false;
    std::uint32_t next_entry = 0;  ///< to be delivered
  };

  [[nodiscard]] bool advance(Cursor& cursor) const;
  void step_footers(TimeNs now_ns);
  [[nodiscard]] bool begin_footer(Load& load, TimeNs now_ns);
  void end_footer(Load& load);
  void settle(Path& path, std::uint32_t segment, const SegmentFindings& findings, std::uint32_t index_bytes);
  void take_marks(const FooterLoad& footer);
  void take_mark(const RecordOrder& mark, SegmentRow& row);
  void step_scans(TimeNs now_ns);
  void after_scan();
  void step_entries(TimeNs now_ns);
  [[nodiscard]] bool begin_entries(Load& load, TimeNs now_ns);
  [[nodiscard]] bool deliver(Load& load);
  void deliver(const FooterLoad& footer, const IndexEntry& entry, const IndexScope& scope);
  [[nodiscard]] bool is_any_busy() const;

  StoreShared& shared_;
  std::vector<Path> paths_;
  std::vector<std::unique_ptr<Load>> loads_;
  SegmentScan scan_;
  JobStep<Step> step_{shared_.io.changes(), Step::kFooters};
  Cursor cursor_;
  std::vector<Cursor> scans_;  ///< segments that are to be scanned
  bool is_scanning_ = false;
  bool is_sealing_ = false;
  std::uint64_t done_count_ = 0;
  std::uint64_t total_count_ = 0;
};

}  // namespace kvtier
