#include "daemon/disk/format_group.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace kvtier {
namespace {

std::uint32_t header_stride(std::span<const DiskRecord> records) {
  std::uint32_t bytes = 0;
  for (const DiskRecord& record : records) bytes = std::max(bytes, record.header_bytes());
  return static_cast<std::uint32_t>(round_up(bytes, kSectorBytes));
}

std::uint64_t headers_bytes(const SegmentGeometry& geometry, std::span<const DiskRecord> records) {
  return group_header_bytes(geometry, static_cast<std::uint32_t>(records.size()), header_stride(records));
}

}  // namespace

std::uint64_t group_bytes(const SegmentGeometry& geometry, std::span<const DiskRecord> records) {
  std::uint64_t bytes = headers_bytes(geometry, records);
  for (const DiskRecord& record : records) bytes += round_up(record.header.payload_bytes, geometry.alignment);
  return bytes;
}

Result<std::uint64_t> place_group(const SegmentContext& segment, std::uint64_t offset, std::uint64_t limit,
                                  std::span<DiskRecord> records) {
  KV_CHECK(!records.empty() && records.size() <= kGroupRecordsMax &&
               offset >= data_offset(segment.geometry) && offset % segment.geometry.alignment == 0 &&
               limit <= trailer_offset(segment.geometry),
           "a group is placed in the data of its segment");
  const std::uint64_t bytes = group_bytes(segment.geometry, records);
  if (offset > limit || bytes > limit - offset) {
    return Status(Code::kNoSpace, "a group of " + std::to_string(bytes) + " bytes does not fit at offset " +
                                      std::to_string(offset) + " before " + std::to_string(limit));
  }
  std::uint64_t payload = offset + headers_bytes(segment.geometry, records);
  const std::uint32_t stride = header_stride(records);
  for (std::size_t i = 0; i < records.size(); ++i) {
    RecordHeader& header = records[i].header;
    header.identity = segment.identity;
    header.offset = offset + i * stride;
    header.payload_offset = header.kind == RecordKind::kBlock ? payload : 0;
    header.group_index = static_cast<std::uint16_t>(i);
    header.group_count = static_cast<std::uint16_t>(records.size());
    header.header_stride = stride;
    header.group_bytes = bytes;
    payload += round_up(header.payload_bytes, segment.geometry.alignment);
  }
  return offset + bytes;
}

void encode_group(std::span<const DiskRecord> records, std::span<std::byte> area) {
  const std::uint32_t stride = records.front().header.header_stride;
  KV_CHECK(area.size() >= records.size() * stride, "the header area has room for every header");
  std::memset(area.data(), 0, area.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    encode_record(records[i], area.subspan(i * stride, stride));
}

}  // namespace kvtier
