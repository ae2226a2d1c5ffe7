#include "daemon/disk/format_record.h"
#include "libkvclient/wire/limits.h"

namespace kvtier {
namespace {

bool is_known(RecordKind kind) {
  return kind == RecordKind::kBlock || kind == RecordKind::kTombstone || kind == RecordKind::kInvalidation;
}

// The group: its headers one stride apart from an aligned start, all of it inside the data of the segment.
bool is_group_sound(const SegmentGeometry& g, const RecordHeader& h) {
  if (h.group_count == 0 || h.group_count > kGroupRecordsMax || h.group_index >= h.group_count) return false;
  if (h.header_stride % kSectorBytes != 0 || h.header_stride > kHeaderBytesMax) return false;
  if (h.prefix.bytes > h.header_stride) return false;
  const std::uint64_t before = std::uint64_t{h.group_index} * h.header_stride;
  if (h.offset < data_offset(g) + before || (h.offset - before) % g.alignment != 0) return false;
  const std::uint64_t begin = h.offset - before;
  return begin < trailer_offset(g) && h.group_bytes % g.alignment == 0 &&
         h.group_bytes <= trailer_offset(g) - begin &&
         h.group_bytes >= group_header_bytes(g, h.group_count, h.header_stride);
}

bool is_payload_inside(const SegmentGeometry& g, const RecordHeader& h) {
  const std::uint64_t begin = h.offset - std::uint64_t{h.group_index} * h.header_stride;
  const std::uint64_t first = begin + group_header_bytes(g, h.group_count, h.header_stride);
  const std::uint64_t end = begin + h.group_bytes;
  return h.payload_offset >= first && h.payload_offset % g.alignment == 0 && h.payload_offset < end &&
         h.payload_bytes <= end - h.payload_offset;
}

// Sums follow each other, belong to their part, and cover it to its last byte.
bool is_part_covered(const DiskRecord& record, const RecordPart& part, std::uint32_t sum_first) {
  if (part.sum_first != sum_first || part.sum_count > record.header.sum_count - sum_first) return false;
  std::uint64_t covered = 0;
  for (const LayerSum& sum : record.used_sums().subspan(part.sum_first, part.sum_count)) {
    if (sum.bytes == 0) return false;
    covered += sum.bytes;
  }
  return covered == part.bytes;
}

// A raw part is as long as it was and has no second checksum.
bool is_codec_sound(const RecordPart& part) {
  if (part.reserved != 0 || part.raw_bytes == 0) return false;
  return part.codec != 0 ||
         (part.raw_bytes == part.bytes && part.codec_version == 0 && part.raw_checksum == 0);
}

bool are_parts_sound(const DiskRecord& record) {
  std::uint64_t end = 0;
  std::uint32_t sums = 0;
  for (const RecordPart& part : record.used_parts()) {
    if (part.bytes == 0 || part.offset < end || !is_codec_sound(part)) return false;
    if (!is_part_covered(record, part, sums)) return false;
    end = std::uint64_t{part.offset} + part.bytes;
    sums += part.sum_count;
  }
  return end == record.header.payload_bytes && sums == record.header.sum_count;
}

bool is_mark_sound(const RecordHeader& h) {
  const bool is_bare = h.part_count == 0 && h.sum_count == 0 && h.payload_offset == 0 &&
                       h.payload_bytes == 0 && h.block_bytes == 0 && h.parent.is_zero();
  return is_bare && h.key.is_zero() == (h.kind == RecordKind::kInvalidation);
}

}  // namespace

bool is_record_malformed(const SegmentContext& segment, const DiskRecord& record) {
  const RecordHeader& h = record.header;
  if (!is_known(h.kind) || h.reserved0 != 0 || h.reserved1 != 0 || h.born > h.sequence) return true;
  if (h.sequence >> kSequenceCountBits != h.identity.epoch) return true;
  if (h.tenant.is_zero() || !is_group_sound(segment.geometry, h)) return true;
  if (h.kind != RecordKind::kBlock) return !is_mark_sound(h);
  const bool is_sized =
      h.block_bytes != 0 && h.block_bytes <= kBlockBytesMax && h.payload_bytes <= kBlockBytesMax;
  if (!is_sized || h.key.is_zero() || h.space.is_zero() || h.part_count == 0) return true;
  return !is_payload_inside(segment.geometry, h) || !are_parts_sound(record);
}

}  // namespace kvtier
