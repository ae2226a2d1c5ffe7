#pragma once
// The one check of a record: before its write and after each read (STYLE 26).

#include <cstddef>
#include <cstdint>
#include <span>

#include "daemon/disk/format_parts.h"
#include "daemon/disk/format_record.h"

namespace kvtier {

/// What the index says of the block: the reader's side of the comparison.
struct ExpectedRecord {
  std::uint64_t offset = 0;  ///< of its header, in the segment
  std::uint64_t sequence = 0;
  Digest tenant{};
  Digest space{};
  Key key{};
  std::uint64_t payload_offset = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t block_bytes = 0;
  std::uint32_t header_bytes = 0;
};

/// Of a record that was placed: what a writer checks its buffers against.
ExpectedRecord expect(const DiskRecord& record);

/// Header alone: it is intact, of this use of this segment, in its place, and the block that is looked for. `out` is
/// valid at kNone.
DiskFault verify_header(const SegmentContext& segment, const ExpectedRecord& expected,
                        std::span<const std::byte> header, DiskRecord& out);

/// Header and payload. Nothing of `payload` may be used unless the verdict is ok; then all parts are right.
DiskVerdict verify_record(const SegmentContext& segment, const ExpectedRecord& expected,
                          std::span<const std::byte> header, std::span<const std::byte> payload,
                          DiskRecord& out);

}  // namespace kvtier
