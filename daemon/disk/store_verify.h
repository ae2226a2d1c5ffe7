#pragma once
// The scrub: reads every record of every segment, by its index, and checks header and payload as each reader does. A copy
// that is bad is told as kDropped, so that nobody comes back to it. Works below everything else: one batch in the
// device, then a rest as long as the batch took, longer while there is other work.
//
// It has no memory of its own: footers and batches lie where reclaim has its own, and the two take turns, a batch of the
// one, a segment of the other. What reclaim moves meanwhile is checked by the move.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/footer_load.h"
#include "daemon/disk/job_step.h"
#include "daemon/disk/path_writer.h"
#include "daemon/disk/verify_report.h"

namespace kvtier {

class StoreVerify {
 public:
  static constexpr std::size_t kBatch = 32;             ///< records
  static constexpr TimeNs kPatienceNs = 50 * kNsPerMs;  ///< for other work to end, at most

  struct Path {
    StorePath* path = nullptr;
    const PathWriter* writer = nullptr;
  };

  /// `index`: the memory of a footer; `batch`: what a block and its header take.
  StoreVerify(StoreShared& shared, std::span<std::byte> index, std::span<std::byte> batch);
  void set_paths(std::vector<Path> paths) { paths_ = std::move(paths); }

  /// From the first segment on. One that runs is stopped before.
  void begin(std::uint64_t tag);
  /// The store does not serve.
  void refuse(std::uint64_t tag) { report_ = {.tag = tag, .state = VerifyState::kRefused}; }
  void stop(std::uint64_t tag);
  /// Whichever runs; none begins any more.
  void stop_all();

  /// `is_busy`: others have work under way. Not while reclaim has the memory.
  void step(TimeNs now_ns, bool is_busy);
  /// Reclaim has the memory: what lay there is lost.
  void lose_footer() { has_footer_ = false; }

  /// The device, or this, has the memory: nobody else may use it.
  [[nodiscard]] bool is_holding() const { return step_ == Step::kLoad || step_ == Step::kRead; }
  [[nodiscard]] bool is_idle() const { return step_ == Step::kIdle; }
  [[nodiscard]] TimeNs next_deadline_ns() const;
  [[nodiscard]] const VerifyReport& report() const { return report_; }

 private:
  enum class Step : std::uint8_t { kIdle, kSeek, kLoad, kGather, kRead, kRest };
  struct Check {
    IndexEntry entry{};
    IndexScope scope{};
    std::span<std::byte> header;      ///< the units that hold it
    std::span<std::byte> payload;     ///< with its padding; empty: a mark
    std::uint64_t header_bytes = 0;   ///< that were read
    std::uint64_t payload_bytes = 0;  ///< likewise
    IoOutcome outcome = IoOutcome::kDone;
  };

  void start(std::uint64_t tag);
  void end(VerifyState state);
  void seek();
  void next_segment();
  void skip(std::uint64_t& why);
  void after_load();
  void gather(TimeNs now_ns);
  [[nodiscard]] bool plan(const IndexEntry& entry, const IndexScope& scope, std::size_t& used, TimeNs now_ns);
  void plan_open(std::size_t& used, TimeNs now_ns);
  void plan_sealed(std::size_t& used, TimeNs now_ns);
  void after_reads(TimeNs now_ns);
  void note(const IoPiece& piece);
  void judge(const Check& check);
  void judge_bad(const Check& check, DiskFault fault);
  [[nodiscard]] bool is_rested(TimeNs now_ns, bool is_busy) const;
  [[nodiscard]] StorePath& path() const { return *paths_[path_].path; }
  [[nodiscard]] const SegmentRow& row() const { return path().segments[segment_]; }

  StoreShared& shared_;
  std::vector<Path> paths_;
  FooterLoad footer_;
  IoPieces pieces_;
  const std::span<std::byte> buffer_;
  std::array<Check, kBatch> checks_{};
  std::size_t check_count_ = 0;
  JobStep<Step> step_{shared_.io.changes(), Step::kIdle};
  VerifyReport report_;
  std::uint64_t next_tag_ = 0;  ///< begins when this one ended; 0: none
  bool is_stopping_ = false;
  bool is_closed_ = false;
  // where it is
  std::size_t path_ = 0;
  std::uint32_t segment_ = 0;
  std::uint64_t generation_ = 0;   ///< of the use that is looked at; 0: not chosen yet
  std::uint32_t next_sector_ = 0;  ///< headers before it were looked at
  std::uint64_t end_ =
      0;  ///< in the segment: what an open one had when it was reached, so that no writer is chased
  bool has_footer_ = false;
  TimeNs now_ns_ = 0;
  TimeNs begun_ns_ = 0;  ///< of the batch
  TimeNs rest_until_ns_ = 0;
  TimeNs patience_until_ns_ = 0;
  DiskRecord record_{};
};

}  // namespace kvtier
