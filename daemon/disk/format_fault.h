#pragma once
// Why bytes of a disk were refused: a closed set, one counter each. Every check of the format ends in one.

#include <cstdint>
#include <string_view>

namespace kvtier {

/// In the order in which they are looked for. The numbers index counters: append, never renumber.
enum class DiskFault : std::uint8_t {
  kNone = 0,
  kTruncated = 1,        ///< fewer bytes than there should be: a short file or a short read
  kEmpty = 2,            ///< zeros: never written, or a write that was lost
  kForeign = 3,          ///< not ours
  kHeaderDamaged = 4,    ///< ours, and its checksum is wrong: torn or flipped
  kVersion = 5,          ///< intact, of a format version that this program does not know
  kOtherStore = 6,       ///< intact, of another store
  kMisplaced = 7,        ///< intact, belongs elsewhere: swapped, or a write that went astray
  kStale = 8,            ///< intact and in its place, of another use of the segment
  kMalformed = 9,        ///< intact, and its fields contradict each other: a bug, or forged
  kOtherBlock = 10,      ///< intact, and not the block that was looked for
  kPayloadDamaged = 11,  ///< a layer's checksum is wrong
  kIndexDamaged = 12,    ///< the checksum of a footer's index is wrong
};
inline constexpr std::uint8_t kDiskFaultCount = 13;

/// The one word for it in counters, kvctl and documents.
std::string_view disk_fault_name(DiskFault fault);

/// Where a check ended. The two sides of the comparison that failed, where it was one of numbers.
struct [[nodiscard]] DiskVerdict {
  DiskFault fault = DiskFault::kNone;
  std::uint16_t part = 0;  ///< kPayloadDamaged: which part, which of the record's sums
  std::uint16_t sum = 0;
  std::uint64_t expected = 0;
  std::uint64_t found = 0;

  [[nodiscard]] bool is_ok() const { return fault == DiskFault::kNone; }
};

}  // namespace kvtier
