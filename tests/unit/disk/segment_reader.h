#pragma once
// Reads a segment out of memory, as a reader and as a recovery would. The bytes may end early.

#include <span>
#include <vector>

#include "daemon/disk/format_recovery.h"
#include "daemon/disk/format_verify.h"

namespace kvtier::test {

struct RecoveredSegment {
  RecoveryPlan plan;
  std::vector<ExpectedRecord> records;  ///< that index or scan names; their payloads were not looked at
};

/// `place` with generation and epoch as the segment itself tells them.
RecoveredSegment recover_segment(const SegmentContext& place, std::span<const std::byte> bytes);

DiskVerdict read_record(const SegmentContext& segment, std::span<const std::byte> bytes,
                        const ExpectedRecord& expected, DiskRecord& out);

/// At most `length` bytes from `offset`, fewer where the file ends.
std::span<const std::byte> clip(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t length);

}  // namespace kvtier::test
