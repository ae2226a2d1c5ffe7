#include "daemon/disk/format_record.h"

#include <cstring>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

// Only counts, so that nothing is read beyond the structure; the rest is is_record_malformed's.
bool has_room(const RecordHeader& header) {
  return header.part_count <= kRecordPartsMax && header.sum_count <= kRecordSumsMax &&
         header.prefix.bytes == record_bytes(header.part_count, header.sum_count);
}

DiskFault copy_record(std::span<const std::byte> bytes, DiskRecord& out) {
  const DiskFault fault = check_seal(kRecordMagic, sizeof(RecordHeader), bytes);
  if (fault != DiskFault::kNone) return fault;
  std::memcpy(&out.header, bytes.data(), sizeof out.header);
  if (!has_room(out.header)) return DiskFault::kMalformed;
  const std::byte* tail = bytes.data() + sizeof(RecordHeader);
  const std::size_t parts_bytes = out.header.part_count * sizeof(RecordPart);
  std::memcpy(out.parts.data(), tail, parts_bytes);
  std::memcpy(out.sums.data(), tail + parts_bytes, out.header.sum_count * sizeof(LayerSum));
  return DiskFault::kNone;
}

}  // namespace

void encode_record(const DiskRecord& record, std::span<std::byte> slot) {
  const std::uint32_t bytes = record.header_bytes();
  KV_CHECK(record.header.part_count <= kRecordPartsMax && record.header.sum_count <= kRecordSumsMax &&
               bytes <= slot.size(),
           "a record is encoded into one header stride");
  std::memset(slot.data(), 0, slot.size());
  std::memcpy(slot.data(), &record.header, sizeof record.header);
  std::byte* tail = slot.data() + sizeof record.header;
  std::memcpy(tail, record.parts.data(), record.used_parts().size_bytes());
  std::memcpy(tail + record.used_parts().size_bytes(), record.sums.data(), record.used_sums().size_bytes());
  seal(kRecordMagic, slot.first(bytes));
}

DiskFault verify_record_header(const SegmentContext& segment, std::uint64_t offset,
                               std::span<const std::byte> bytes, DiskRecord& out) {
  DiskFault fault = copy_record(bytes, out);
  if (fault != DiskFault::kNone) return fault;
  fault = compare_place(segment.identity, out.header.identity);
  if (fault != DiskFault::kNone) return fault;
  if (out.header.offset != offset) return DiskFault::kMisplaced;
  fault = compare_identity(segment.identity, out.header.identity);
  if (fault != DiskFault::kNone) return fault;
  return is_record_malformed(segment, out) ? DiskFault::kMalformed : DiskFault::kNone;
}

}  // namespace kvtier
