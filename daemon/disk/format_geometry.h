#pragma once
// Where things lie in a segment: a header unit, groups of records, the footer's index, a trailer unit.

#include <cstdint>
#include <span>

#include "daemon/disk/format.h"
#include "libkvclient/base/units.h"

namespace kvtier {

struct SegmentGeometry {
  std::uint64_t segment_bytes = 0;
  std::uint32_t alignment = 0;  ///< of payloads and of every I/O
  friend bool operator==(const SegmentGeometry&, const SegmentGeometry&) = default;
};

/// A segment as its writer and readers know it.
struct SegmentContext {
  SegmentIdentity identity;
  SegmentGeometry geometry;
};

inline constexpr std::uint64_t kSegmentUnitsMin = 8;
/// A writer seals before its index is longer: enough for 256 MiB of 4 KiB blocks. A longer one is taken for damaged, so
/// that a footer's reader, and the index of what is open, have fixed memory.
inline constexpr std::uint64_t kIndexBytesMax = 8 * kMiB;

constexpr bool is_valid_geometry(const SegmentGeometry& g) {
  const bool is_aligned = g.alignment >= kAlignmentMin && g.alignment <= kAlignmentMax &&
                          std::has_single_bit(g.alignment) && g.segment_bytes % g.alignment == 0;
  return is_aligned && g.segment_bytes >= kSegmentUnitsMin * g.alignment &&
         g.segment_bytes <= kSegmentBytesMax;
}

/// Of a segment in its path's file.
constexpr std::uint64_t segment_file_offset(const SegmentGeometry& g, std::uint32_t segment) {
  return kSegmentsOffset + segment * g.segment_bytes;
}

constexpr std::uint64_t data_offset(const SegmentGeometry& g) {
  return g.alignment;
}
constexpr std::uint64_t trailer_offset(const SegmentGeometry& g) {
  return g.segment_bytes - g.alignment;
}
constexpr std::uint64_t index_bytes(std::uint64_t scopes, std::uint64_t entries) {
  return scopes * sizeof(IndexScope) + entries * sizeof(IndexEntry);
}
/// Index with its padding, and trailer: what a writer keeps free behind the data.
constexpr std::uint64_t footer_bytes(const SegmentGeometry& g, std::uint64_t scopes, std::uint64_t entries) {
  return round_up(index_bytes(scopes, entries), g.alignment) + g.alignment;
}

/// Header sizes of a record.
constexpr std::uint32_t record_bytes(std::uint32_t parts, std::uint32_t sums) {
  return static_cast<std::uint32_t>(sizeof(RecordHeader) + parts * sizeof(RecordPart) +
                                    sums * sizeof(LayerSum));
}
constexpr std::uint64_t group_header_bytes(const SegmentGeometry& g, std::uint32_t count,
                                           std::uint32_t stride) {
  return round_up(std::uint64_t{count} * stride, g.alignment);
}

}  // namespace kvtier
