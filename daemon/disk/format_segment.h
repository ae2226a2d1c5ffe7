#pragma once
// The header of a segment: first sector of its first alignment unit. Written before any record of that use.

#include <array>
#include <cstddef>
#include <span>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"
#include "daemon/disk/format_geometry.h"

namespace kvtier {

using SegmentHeaderBytes = std::array<std::byte, sizeof(SegmentHeader)>;

SegmentHeaderBytes encode_segment_header(const SegmentContext& segment, std::uint64_t created_ns);

/// `place` says store, path, segment and geometry; generation and epoch are what the header tells.
DiskFault verify_segment_header(const SegmentContext& place, std::span<const std::byte> bytes,
                                SegmentHeader& out);

}  // namespace kvtier
