#pragma once
// A record's header in memory, and between memory and disk. What payloads must be: format_verify.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"
#include "daemon/disk/format_geometry.h"

namespace kvtier {

/// Decoded: the variable part in arrays of full size, of which the counts in the header are in use.
struct DiskRecord {
  RecordHeader header;
  std::array<RecordPart, kRecordPartsMax> parts;
  std::array<LayerSum, kRecordSumsMax> sums;

  [[nodiscard]] std::span<const RecordPart> used_parts() const {
    return std::span(parts).first(header.part_count);
  }
  [[nodiscard]] std::span<const LayerSum> used_sums() const {
    return std::span(sums).first(header.sum_count);
  }
  [[nodiscard]] std::uint32_t header_bytes() const {
    return record_bytes(header.part_count, header.sum_count);
  }
};

/// Writes header, parts and sums, sealed; zeroes the rest of `slot` (one header_stride).
void encode_record(const DiskRecord& record, std::span<std::byte> slot);

/// Whether `bytes` begin with a record of this use of this segment that belongs at `offset` and makes sense.
/// `out` is only valid at kNone, and of what the header says then nothing needs to be checked again.
DiskFault verify_record_header(const SegmentContext& segment, std::uint64_t offset,
                               std::span<const std::byte> bytes, DiskRecord& out);

/// Fields that contradict each other or lead out of the segment; part of the above.
bool is_record_malformed(const SegmentContext& segment, const DiskRecord& record);

}  // namespace kvtier
