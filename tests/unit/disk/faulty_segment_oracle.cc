#include <algorithm>
#include <cstring>

#include "daemon/disk/format_seal.h"
#include "tests/unit/disk/faulty_segment.h"

namespace kvtier::test {
namespace {

const DiskRecord* record_at(const SegmentImage& image, std::uint64_t sector) {
  for (const DiskRecord& record : image.records) {
    if (record.header.offset == sector * kSectorBytes) return &record;
  }
  return nullptr;
}

std::uint64_t sectors_of(const DiskRecord& record) {
  return (record.header_bytes() + kSectorBytes - 1) / kSectorBytes;
}

}  // namespace

const SegmentImage* FaultySegment::image_of(Role role) const {
  switch (role) {
    case Role::kNow:
      return &images_.now;
    case Role::kOld:
      return &images_.old;
    case Role::kNeighbour:
      return &images_.neighbour;
    case Role::kOtherStore:
      return &images_.other_store;
    default:
      return nullptr;
  }
}

bool FaultySegment::is_unharmed(std::uint64_t begin, std::uint64_t end) const {
  return end <= bytes_.size() &&
         std::memcmp(bytes_.data() + begin, images_.now.bytes.data() + begin, end - begin) == 0;
}

// Whether all of another record's header came along to `sector`.
bool FaultySegment::is_whole_copy(const DiskRecord& of, const SegmentImage& image,
                                  std::uint64_t sector) const {
  const std::uint64_t at = sector * kSectorBytes;
  return at + of.header_bytes() <= bytes_.size() &&
         std::memcmp(bytes_.data() + at, image.bytes.data() + of.header.offset, of.header_bytes()) == 0;
}

// Bytes of somebody else at the beginning of a header.
DiskFault FaultySegment::fault_of_alien(std::uint64_t sector) const {
  const Origin origin = origins_[sector];
  const SegmentImage* image = image_of(origin.role);
  const std::span<const std::byte> bytes = std::span(bytes_).subspan(sector * kSectorBytes, kSectorBytes);
  if (is_all_zero(bytes)) return DiskFault::kEmpty;
  if (image == nullptr) return DiskFault::kForeign;
  const bool is_trailer = origin.sector == trailer_offset(kImageGeometry) / kSectorBytes;
  if (origin.sector == 0 || is_trailer) return DiskFault::kMisplaced;
  const DiskRecord* record = record_at(*image, origin.sector);
  if (record == nullptr) return DiskFault::kForeign;
  if (!is_whole_copy(*record, *image, sector)) return DiskFault::kHeaderDamaged;
  if (origin.role == Role::kOtherStore) return DiskFault::kOtherStore;
  if (origin.role == Role::kNeighbour || origin.sector != sector) return DiskFault::kMisplaced;
  return DiskFault::kStale;
}

DiskFault FaultySegment::expected_header_fault(const DiskRecord& record) const {
  const std::uint64_t begin = record.header.offset;
  const std::uint64_t end = begin + record.header_bytes();
  if (end > bytes_.size()) return DiskFault::kTruncated;
  if (is_unharmed(begin, end)) return DiskFault::kNone;
  const std::uint64_t first = begin / kSectorBytes;
  for (std::uint64_t i = first; i < first + sectors_of(record); ++i) {
    if (origins_[i].role == Role::kFlipped) return DiskFault::kHeaderDamaged;
  }
  const bool is_first_ours = is_unharmed(begin, std::min(end, begin + kSectorBytes));
  if (is_first_ours) return DiskFault::kHeaderDamaged;
  return origins_[first].role == Role::kOtherVersion ? DiskFault::kVersion : fault_of_alien(first);
}

DiskVerdict FaultySegment::expected_verdict(const DiskRecord& record) const {
  const DiskFault fault = expected_header_fault(record);
  if (fault != DiskFault::kNone) return {.fault = fault};
  const RecordHeader& h = record.header;
  if (h.payload_offset + h.payload_bytes > bytes_.size()) return {.fault = DiskFault::kTruncated};
  for (std::uint16_t part = 0; part < h.part_count; ++part) {
    std::uint64_t at = h.payload_offset + record.parts[part].offset;
    for (std::uint16_t i = 0; i < record.parts[part].sum_count; ++i) {
      const auto sum = static_cast<std::uint16_t>(record.parts[part].sum_first + i);
      if (!is_unharmed(at, at + record.sums[sum].bytes)) return {DiskFault::kPayloadDamaged, part, sum, 0, 0};
      at += record.sums[sum].bytes;
    }
  }
  return {};
}

}  // namespace kvtier::test
