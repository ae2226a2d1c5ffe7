#pragma once
// A group: records that are written together, their headers first, then their payloads in the same order. Small
// blocks share header pages that way, and the payloads of a prefix lie side by side.

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/disk/format_record.h"
#include "libkvclient/base/result.h"

namespace kvtier {

/// Gives 1 to kGroupRecordsMax records their place: identity, offset, payload_offset and what concerns the group.
/// Their parts are planned, their payloads need not be summed yet. The offset after the group; kNoSpace: it does
/// not end before `limit`, and the records are as they were.
Result<std::uint64_t> place_group(const SegmentContext& segment, std::uint64_t offset, std::uint64_t limit,
                                  std::span<DiskRecord> records);

/// What place_group would use: header area and padded payloads.
std::uint64_t group_bytes(const SegmentGeometry& geometry, std::span<const DiskRecord> records);

/// All headers of a placed and summed group; `area` has group_header_bytes().
void encode_group(std::span<const DiskRecord> records, std::span<std::byte> area);

}  // namespace kvtier
