#pragma once
// Finding records without an index: in a segment that was not sealed, or whose footer is damaged.

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/disk/format_record.h"

namespace kvtier {

struct ScanStep {
  DiskFault fault = DiskFault::kNone;  ///< why there is no group here
  std::uint64_t next = 0;              ///< offset at which to go on
  std::uint64_t offset = 0;            ///< of the group: header i at offset + i * header_stride
  std::uint32_t header_stride = 0;
  std::uint32_t count = 0;
};

/// Looks at one alignment unit, `bytes`, read at `offset`; give kHeaderBytesMax more where there are. Any intact
/// header tells its group, and the next step is behind that, so that payloads are never taken for headers. Where there
/// is none the next step is one unit on: a scan goes over holes, to the end of the segment.
ScanStep scan_step(const SegmentContext& segment, std::uint64_t offset, std::span<const std::byte> bytes);

}  // namespace kvtier
