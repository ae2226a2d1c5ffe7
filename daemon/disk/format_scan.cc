#include "daemon/disk/format_scan.h"

namespace kvtier {
namespace {

ScanStep group_of(const RecordHeader& header) {
  const std::uint64_t begin = header.offset - std::uint64_t{header.group_index} * header.header_stride;
  return {.next = begin + header.group_bytes,
          .offset = begin,
          .header_stride = header.header_stride,
          .count = header.group_count};
}

}  // namespace

ScanStep scan_step(const SegmentContext& segment, std::uint64_t offset, std::span<const std::byte> bytes) {
  DiskRecord record;
  ScanStep step{.fault = DiskFault::kTruncated, .next = offset + segment.geometry.alignment};
  for (std::uint64_t at = 0; at < segment.geometry.alignment && at < bytes.size(); at += kSectorBytes) {
    const DiskFault fault = verify_record_header(segment, offset + at, bytes.subspan(at), record);
    if (fault == DiskFault::kNone) return group_of(record.header);
    if (at == 0) step.fault = fault;
  }
  return step;
}

}  // namespace kvtier
