#pragma once
// The end of an open segment: what it holds is made durable first, then its footer is written. So an index never leads
// to a record that a power cut took, which would hide an older copy that was flushed.

#include <cstdint>

#include "daemon/disk/job_step.h"
#include "daemon/disk/open_index.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

class SegmentSeal {
 public:
  SegmentSeal(StoreShared& shared, StorePath& path, OpenIndex& index)
      : shared_(shared),
        path_(path),
        index_(index),
        pieces_(shared.io, range_pieces(kIndexBytesMax + kAlignmentMax)) {}

  /// The segment is kSealing, and every record of it has its result. `is_durable`: as recovery finds it, since the
  /// epoch was raised with syncs of the same file, after everything that an earlier daemon wrote (path_owner.h).
  void start(std::uint32_t segment, std::uint64_t data_end, bool is_durable);
  /// Ends with the segment kSealed: with a footer, or without where that failed; then the next start scans it.
  void step(TimeNs now_ns);
  [[nodiscard]] bool is_idle() const { return step_ == Step::kIdle; }

 private:
  enum class Step : std::uint8_t { kIdle, kSync, kFooter };
  void write_footer(TimeNs now_ns);
  void finish(std::uint32_t bytes);

  StoreShared& shared_;
  StorePath& path_;
  OpenIndex& index_;
  IoPieces pieces_;
  JobStep<Step> step_{shared_.io.changes(), Step::kIdle};
  std::uint32_t segment_ = 0;
  std::uint64_t data_end_ = 0;
  std::uint64_t ticket_ = 0;
};

}  // namespace kvtier
