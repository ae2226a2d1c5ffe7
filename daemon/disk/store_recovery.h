#pragma once
// From segments to entries: all footers are read once for marks and for what each segment is, segments without one are
// scanned and sealed, then all footers are read again and their blocks delivered, those that a mark voids left out. The
// memory is that of a few footers, however large the store.
//
// A segment of which the device does not give all is neither sealed nor called void: what was read of it is delivered, and
// the next start scans it again. A mark may be in what was not read. One unit holds no mark's only copy (README); where it
// is more, or a path is missing, every block that such a mark could void is withheld: it waits for that start too.

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
  enum class Step : std::uint8_t { kFooters, kScans, kEntries, kUnread, kDone };
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
  void note_age(const IndexEntry& entry);
  void take_mark(const RecordOrder& mark, SegmentRow& row);
  void step_scans(TimeNs now_ns);
  void after_scan();
  void step_entries(TimeNs now_ns);
  [[nodiscard]] bool begin_entries(Load& load, TimeNs now_ns);
  [[nodiscard]] bool deliver(Load& load);
  void deliver(StorePath& path, std::uint32_t segment, const IndexEntry& entry, const IndexScope& scope);
  void leave_unread();
  void lose_marks(std::uint64_t units, std::uint64_t born_end);
  void end_scans();
  void order_entries();
  void step_unread(TimeNs now_ns);
  [[nodiscard]] bool deliver_unread();
  [[nodiscard]] bool is_any_busy() const;

  StoreShared& shared_;
  std::vector<Path> paths_;
  std::vector<std::unique_ptr<Load>> loads_;
  SegmentScan scan_;
  JobStep<Step> step_{shared_.io.changes(), Step::kFooters};
  Cursor cursor_;
  std::vector<Cursor> scans_;    ///< segments that are to be scanned
  std::vector<Cursor> unread_;   ///< of those, segments of which a part could not be read
  std::vector<Cursor> ordered_;  ///< segments that are to be delivered, newest first
  std::size_t next_ordered_ = 0;
  std::size_t next_entry_ = 0;       ///< of one of them, to be delivered
  std::uint64_t units_lost_ = 0;     ///< units, in which marks may be that nobody read
  std::uint64_t lost_born_ = 0;      ///< those marks were born before it
  std::uint64_t withheld_born_ = 0;  ///< blocks that were born before it are not told
  bool is_scanning_ = false;
  bool is_sealing_ = false;
  std::uint64_t done_count_ = 0;
  std::uint64_t total_count_ = 0;
};

}  // namespace kvtier
