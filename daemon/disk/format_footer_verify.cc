#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_seal.h"
#include "libkvclient/base/checksum.h"

namespace kvtier {
namespace {

bool is_trailer_sound(const SegmentGeometry& g, const SegmentTrailer& t) {
  if (t.scope_count > t.entry_count || t.index_bytes != index_bytes(t.scope_count, t.entry_count))
    return false;
  if (t.index_bytes > trailer_offset(g) - data_offset(g)) return false;
  if (t.index_offset != trailer_offset(g) - round_up(t.index_bytes, g.alignment)) return false;
  return t.data_end >= data_offset(g) && t.data_end <= t.index_offset && t.sealed_epoch >= t.identity.epoch &&
         is_all_zero(t.reserved);
}

bool lies_in_data(const SegmentTrailer& trailer, std::uint64_t offset, std::uint64_t bytes) {
  return offset >= kAlignmentMin && offset <= trailer.data_end && bytes <= trailer.data_end - offset;
}

bool is_entry_sound(const SegmentTrailer& trailer, const IndexEntry& entry) {
  if (entry.scope >= trailer.scope_count || !is_all_zero(entry.reserved)) return false;
  if (entry.sequence >> kSequenceCountBits != trailer.identity.epoch || entry.born > entry.sequence)
    return false;
  if (entry.header_bytes < sizeof(RecordHeader) || entry.header_bytes > kHeaderBytesMax) return false;
  if (!lies_in_data(trailer, std::uint64_t{entry.header_sector} * kSectorBytes, entry.header_bytes))
    return false;
  switch (entry.kind) {
    case RecordKind::kBlock:
      return entry.payload_bytes != 0 && entry.block_bytes != 0 && !entry.key.is_zero() &&
             lies_in_data(trailer, std::uint64_t{entry.payload_sector} * kSectorBytes, entry.payload_bytes);
    case RecordKind::kTombstone:
    case RecordKind::kInvalidation:
      return entry.payload_sector == 0 && entry.payload_bytes == 0;
  }
  return false;
}

}  // namespace

DiskFault verify_trailer(const SegmentContext& place, std::span<const std::byte> bytes, SegmentTrailer& out) {
  DiskFault fault = copy_sealed(kTrailerMagic, bytes, out);
  if (fault == DiskFault::kNone) fault = compare_place(place.identity, out.identity);
  if (fault != DiskFault::kNone) return fault;
  if (out.offset != trailer_offset(place.geometry)) return DiskFault::kMisplaced;
  return is_trailer_sound(place.geometry, out) ? DiskFault::kNone : DiskFault::kMalformed;
}

DiskFault verify_index(const SegmentTrailer& trailer, std::span<const std::byte> index) {
  if (index.size() < trailer.index_bytes) return DiskFault::kTruncated;
  if (checksum64(index.first(trailer.index_bytes)) != trailer.index_checksum) return DiskFault::kIndexDamaged;
  for (std::uint32_t i = 0; i < trailer.entry_count; ++i) {
    if (!is_entry_sound(trailer, read_entry(trailer, index, i))) return DiskFault::kMalformed;
  }
  return DiskFault::kNone;
}

}  // namespace kvtier
