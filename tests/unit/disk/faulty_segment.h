#pragma once
// A segment to which disks were unkind, and who knows of each sector whose bytes it has now: the oracle of the
// fault test, which looks at origins and at changed bytes alone and at no checksum.

#include <array>
#include <cstddef>
#include <vector>

#include "daemon/disk/format_fault.h"
#include "libkvclient/base/prng.h"
#include "tests/unit/disk/segment_image.h"

namespace kvtier::test {

/// The same layout four times: what belongs here, what was here before, and what belongs elsewhere.
struct ImageSet {
  SegmentImage now;
  SegmentImage old;
  SegmentImage neighbour;
  SegmentImage other_store;
};
ImageSet make_images(std::uint64_t shape);

enum class DiskMishap : std::uint8_t {
  kFlipBit,
  kFlipHeaderBit,
  kFlipSegmentHeaderBit,
  kFlipFooterBit,
  kSwapSectors,
  kSwapHeaders,
  kTornGroup,     ///< some sectors of a group's write never arrived
  kLostGroup,     ///< none did
  kStaleSegment,  ///< no write of this use arrived
  kRangeOfOld,
  kRangeOfNeighbour,
  kRangeOfOtherStore,
  kRangeOfRandom,
  kRangeOfZero,
  kGroupElsewhere,  ///< a group's write went to another group's place
  kOtherVersion,    ///< a header is another release's
  kTruncate,
  kTruncateFooter,
};
inline constexpr std::uint64_t kDiskMishaps = 18;

class FaultySegment {
 public:
  explicit FaultySegment(const ImageSet& images);

  void inflict(DiskMishap mishap, Prng& prng);

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// What a reader of this record of `now` must be told, part and sum included.
  [[nodiscard]] DiskVerdict expected_verdict(const DiskRecord& record) const;
  /// Whether [begin, end) is there and as it was written.
  [[nodiscard]] bool is_unharmed(std::uint64_t begin, std::uint64_t end) const;

 private:
  void flip(std::uint64_t bit);
  void swap(std::uint64_t a, std::uint64_t b);
  void copy(const SegmentImage& from, std::uint64_t from_sector, std::uint64_t sector);
  void copy_range(const SegmentImage& from, Prng& prng);
  void fill(std::uint64_t sector, Role role, Prng& prng);
  void fill_range(Role role, Prng& prng);
  void tear_group(Prng& prng);
  void lose_group(Prng& prng);
  void move_group(Prng& prng);
  void change_version(Prng& prng);
  void truncate(std::uint64_t bytes);
  ByteRange pick_range(Prng& prng) const;  ///< in sectors
  const DiskRecord& pick_record(Prng& prng) const;

  [[nodiscard]] const SegmentImage* image_of(Role role) const;
  [[nodiscard]] DiskFault expected_header_fault(const DiskRecord& record) const;
  [[nodiscard]] DiskFault fault_of_alien(std::uint64_t sector) const;
  [[nodiscard]] bool is_whole_copy(const DiskRecord& of, const SegmentImage& image,
                                   std::uint64_t sector) const;

  const ImageSet& images_;
  std::vector<std::byte> bytes_;
  std::vector<Origin> origins_;
};

}  // namespace kvtier::test
