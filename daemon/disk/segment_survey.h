#pragma once
// The first look at a path: header and trailer of each of its segments. Nothing is written.

#include <cstdint>
#include <vector>

#include "daemon/disk/format_recovery.h"
#include "daemon/disk/store_path.h"

namespace kvtier {

class SegmentSurvey {
 public:
  struct Found {
    SegmentFindings findings;       ///< but for the index
    std::uint32_t index_bytes = 0;  ///< of an intact trailer
    bool is_header_unread = false;  ///< the device failed: it may be whole
  };

  static constexpr std::size_t kBatch = 16;
  static constexpr std::uint64_t kScratchBytes = 2 * kBatch * std::uint64_t{kAlignmentMax};

  /// Uses kScratchBytes of the path's memory for footers.
  SegmentSurvey(StoreShared& shared, StorePath& path)
      : shared_(shared), path_(path), pieces_(shared.io, 2 * kBatch) {}

  /// `store`: zero for a path without superblocks.
  void start(const SegmentGeometry& geometry, const StoreId& store, std::uint32_t path,
             std::uint32_t segment_count);
  void step(TimeNs now_ns);
  [[nodiscard]] bool is_done() const { return next_ == found_.size() && pieces_.is_empty(); }

  [[nodiscard]] const std::vector<Found>& found() const { return found_; }
  [[nodiscard]] std::uint64_t epoch_max() const { return epoch_max_; }
  [[nodiscard]] std::uint64_t generation_max() const { return generation_max_; }
  /// Something that is no zeros, whoever wrote it.
  [[nodiscard]] bool has_content() const { return has_content_; }
  /// Something of another format version.
  [[nodiscard]] bool has_other_version() const { return has_other_version_; }

 private:
  void begin_batch(TimeNs now_ns);
  void end_batch();
  void look(std::uint32_t segment, std::span<const std::byte> head, std::span<const std::byte> tail);
  void note(const SegmentIdentity& identity);
  [[nodiscard]] std::span<std::byte> unit(std::size_t i) const;

  StoreShared& shared_;
  StorePath& path_;
  IoPieces pieces_;
  SegmentContext place_;
  std::vector<Found> found_;
  std::size_t next_ = 0;
  std::uint64_t epoch_max_ = 0;
  std::uint64_t generation_max_ = 0;
  bool has_content_ = false;
  bool has_other_version_ = false;
};

}  // namespace kvtier
