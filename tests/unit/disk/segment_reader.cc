#include "tests/unit/disk/segment_reader.h"

#include <algorithm>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_scan.h"
#include "daemon/disk/format_segment.h"

namespace kvtier::test {
namespace {

void scan(const SegmentContext& segment, std::span<const std::byte> bytes, std::vector<ExpectedRecord>& out) {
  const SegmentGeometry& g = segment.geometry;
  for (std::uint64_t at = data_offset(g); at < trailer_offset(g);) {
    const ScanStep step = scan_step(segment, at, clip(bytes, at, g.alignment + kHeaderBytesMax));
    for (std::uint32_t i = 0; i < step.count; ++i) {
      const std::uint64_t offset = step.offset + std::uint64_t{i} * step.header_stride;
      DiskRecord record;
      const DiskFault fault =
          verify_record_header(segment, offset, clip(bytes, offset, kHeaderBytesMax), record);
      if (fault == DiskFault::kNone) out.push_back(expect(record));
    }
    at = step.next;
  }
}

void list(const SegmentTrailer& trailer, std::span<const std::byte> index, std::vector<ExpectedRecord>& out) {
  for (std::uint32_t i = 0; i < trailer.entry_count; ++i) {
    const IndexEntry entry = read_entry(trailer, index, i);
    out.push_back(expect(entry, read_scope(trailer, index, entry.scope)));
  }
}

}  // namespace

std::span<const std::byte> clip(std::span<const std::byte> bytes, std::uint64_t offset,
                                std::uint64_t length) {
  const std::uint64_t begin = std::min<std::uint64_t>(offset, bytes.size());
  return bytes.subspan(begin, std::min<std::uint64_t>(length, bytes.size() - begin));
}

RecoveredSegment recover_segment(const SegmentContext& place, std::span<const std::byte> bytes) {
  SegmentHeader header{};
  SegmentTrailer trailer{};
  SegmentFindings found;
  found.header = verify_segment_header(place, clip(bytes, 0, kHeaderBytesMax), header);
  found.header_identity = header.identity;
  found.trailer =
      verify_trailer(place, clip(bytes, trailer_offset(place.geometry), place.geometry.alignment), trailer);
  found.trailer_identity = trailer.identity;
  std::span<const std::byte> index;
  if (found.trailer == DiskFault::kNone) {
    index = clip(bytes, trailer.index_offset, trailer.index_bytes);
    found.index = verify_index(trailer, index);
  }
  RecoveredSegment recovered{choose_recovery(found), {}};
  const SegmentContext segment{recovered.plan.identity, place.geometry};
  if (recovered.plan.choice == RecoveryChoice::kFooter) list(trailer, index, recovered.records);
  if (recovered.plan.choice == RecoveryChoice::kScan) scan(segment, bytes, recovered.records);
  return recovered;
}

DiskVerdict read_record(const SegmentContext& segment, std::span<const std::byte> bytes,
                        const ExpectedRecord& expected, DiskRecord& out) {
  return verify_record(segment, expected, clip(bytes, expected.offset, kHeaderBytesMax),
                       clip(bytes, expected.payload_offset, expected.payload_bytes), out);
}

}  // namespace kvtier::test
