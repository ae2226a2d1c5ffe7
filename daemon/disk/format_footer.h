#pragma once
// What seals a segment: an index of its records, then a trailer in the last alignment unit.

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"
#include "daemon/disk/format_geometry.h"
#include "daemon/disk/format_verify.h"

namespace kvtier {

struct FooterContent {
  std::span<const IndexScope> scopes;
  std::span<const IndexEntry> entries;  ///< in the order of their offsets
  std::uint64_t data_end = 0;
  std::uint64_t sealed_epoch = 0;  ///< later than the segment's where a recovery seals it
  std::uint64_t sealed_ns = 0;
};

IndexEntry index_entry(const DiskRecord& record, std::uint32_t scope);

/// `out` has footer_bytes() and is written to where it ends with the segment.
void encode_footer(const SegmentContext& segment, const FooterContent& content, std::span<std::byte> out);

/// `place` says store, path, segment and geometry; generation and epoch are what the trailer tells. `bytes` were
/// read at trailer_offset().
DiskFault verify_trailer(const SegmentContext& place, std::span<const std::byte> bytes, SegmentTrailer& out);

/// `index` was read at the trailer's index_offset. At kNone every entry leads to a place inside the data.
DiskFault verify_index(const SegmentTrailer& trailer, std::span<const std::byte> index);

/// Of a verified index.
IndexScope read_scope(const SegmentTrailer& trailer, std::span<const std::byte> index, std::uint32_t i);
IndexEntry read_entry(const SegmentTrailer& trailer, std::span<const std::byte> index, std::uint32_t i);

/// What a reader of this entry's block checks it against.
ExpectedRecord expect(const IndexEntry& entry, const IndexScope& scope);

}  // namespace kvtier
