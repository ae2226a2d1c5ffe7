#pragma once
// Reads one segment of a store's file: what it is, and its records, by its footer or, where it has none, by its headers.

#include "daemon/disk/format_footer.h"
#include "tools/kvctl/store_bytes.h"
#include "tools/kvctl/store_picture.h"

namespace kvtier::ctl {

class SegmentWalk {
 public:
  /// All borrowed. `path`: position in the picture.
  SegmentWalk(StoreBytes& file, StorePicture& picture, std::uint32_t path);

  /// Adds the segment and its records to the picture. `is_checked`: their headers and payloads are verified.
  void add(std::uint32_t number, bool is_checked);

 private:
  [[nodiscard]] std::uint64_t at(std::uint64_t offset) const;
  [[nodiscard]] SegmentFindings look();
  void add_index();
  void add_scan();
  void add_group(std::uint64_t offset, std::uint32_t stride, std::uint32_t count);
  void add_record(const ExpectedRecord& expected, RecordKind kind, std::uint64_t born);
  [[nodiscard]] DiskFault check(const ExpectedRecord& expected, RecordKind kind);

  StoreBytes& file_;
  StorePicture& picture_;
  const std::uint32_t path_;
  const SegmentGeometry geometry_;
  // of the present segment
  SegmentContext context_;
  SegmentTrailer trailer_{};
  std::vector<std::byte> index_;
  PictureSegment segment_;
  bool is_checked_ = false;
  DiskRecord record_{};
};

}  // namespace kvtier::ctl
