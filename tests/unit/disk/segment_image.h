#pragma once
// A segment as its writer leaves it, in memory: random groups of blocks of several shapes. One shape gives the same
// layout for every use, so that what one use left lies exactly where the next one writes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "daemon/disk/format_footer.h"
#include "daemon/disk/format_record.h"

namespace kvtier::test {

/// Whose bytes a sector has.
enum class Role : std::uint8_t {
  kNow,
  kOld,
  kNeighbour,
  kOtherStore,
  kZero,
  kRandom,
  kFlipped,
  kOtherVersion
};

struct Origin {
  Role role = Role::kZero;
  std::uint32_t sector = 0;  ///< in that role's segment
};

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SegmentImage {
  SegmentContext segment;
  std::vector<std::byte> bytes;
  std::vector<Origin> origins;  ///< a sector each
  std::vector<DiskRecord> records;
  std::vector<ByteRange> groups;
  std::uint64_t data_end = 0;
  bool is_sealed = false;

  /// Of a block: what its writer wrote, padding not included.
  [[nodiscard]] std::span<const std::byte> payload(const DiskRecord& record) const {
    return std::span(bytes).subspan(record.header.payload_offset, record.header.payload_bytes);
  }
};

inline constexpr SegmentGeometry kImageGeometry{.segment_bytes = 384ULL * 1024, .alignment = 4096};

/// Written over `previous` (null: zeros). An open one has some of its groups and no footer.
SegmentImage write_segment(std::uint64_t shape, Role role, const SegmentIdentity& identity, bool is_sealed,
                           const SegmentImage* previous);

}  // namespace kvtier::test
