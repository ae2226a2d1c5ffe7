#include "daemon/disk/format_segment.h"

#include <cstring>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/check.h"

namespace kvtier {

SegmentHeaderBytes encode_segment_header(const SegmentContext& segment, std::uint64_t created_ns) {
  KV_CHECK(is_valid_geometry(segment.geometry), "a segment is opened with a valid geometry");
  SegmentHeader header{};
  header.identity = segment.identity;
  header.segment_bytes = segment.geometry.segment_bytes;
  header.alignment = segment.geometry.alignment;
  header.created_ns = created_ns;
  SegmentHeaderBytes bytes;
  std::memcpy(bytes.data(), &header, sizeof header);
  seal(kSegmentMagic, bytes);
  return bytes;
}

DiskFault verify_segment_header(const SegmentContext& place, std::span<const std::byte> bytes,
                                SegmentHeader& out) {
  DiskFault fault = copy_sealed(kSegmentMagic, bytes, out);
  if (fault == DiskFault::kNone) fault = compare_place(place.identity, out.identity);
  if (fault != DiskFault::kNone) return fault;
  const bool is_same = SegmentGeometry{out.segment_bytes, out.alignment} == place.geometry;
  const bool is_padded = out.reserved0 == 0 && is_all_zero(out.reserved);
  return is_same && is_padded ? DiskFault::kNone : DiskFault::kMalformed;
}

}  // namespace kvtier
