#include "tests/unit/disk/faulty_segment.h"

#include <algorithm>
#include <cstring>

#include "daemon/disk/format_seal.h"

namespace kvtier::test {
namespace {

std::span<std::byte> sector_of(std::vector<std::byte>& bytes, std::uint64_t sector) {
  return std::span(bytes).subspan(sector * kSectorBytes, kSectorBytes);
}

}  // namespace

ImageSet make_images(std::uint64_t shape) {
  const StoreId store{{0xaaaa, 0xbbbb + shape}};
  const SegmentIdentity now{store, 1, 3, 8, 3};
  // Half the time the use before had the same generation, in an epoch whose count was lost in a crash.
  const SegmentIdentity old =
      shape % 2 == 0 ? SegmentIdentity{store, 1, 3, 5, 3} : SegmentIdentity{store, 1, 3, 8, 2};
  // Of another segment, or of the same one on another path.
  const SegmentIdentity neighbour =
      shape % 4 < 2 ? SegmentIdentity{store, 1, 4, 8, 3} : SegmentIdentity{store, 2, 3, 8, 3};
  const bool is_sealed = shape % 3 != 0;
  ImageSet set;
  set.old = write_segment(shape, Role::kOld, old, true, nullptr);
  set.neighbour = write_segment(shape, Role::kNeighbour, neighbour, true, nullptr);
  set.other_store = write_segment(shape, Role::kOtherStore, {{{1, 2}}, 1, 3, 8, 3}, true, nullptr);
  set.now = write_segment(shape, Role::kNow, now, is_sealed, shape % 5 == 0 ? nullptr : &set.old);
  return set;
}

FaultySegment::FaultySegment(const ImageSet& images)
    : images_(images), bytes_(images.now.bytes), origins_(images.now.origins) {}

void FaultySegment::inflict(DiskMishap mishap, Prng& prng) {
  const std::uint64_t size = bytes_.size();
  const std::uint64_t sectors = origins_.size();
  switch (mishap) {
    case DiskMishap::kFlipBit:
      return flip(prng.below(size * 8));
    case DiskMishap::kFlipHeaderBit: {
      const DiskRecord& record = pick_record(prng);
      return flip(record.header.offset * 8 + prng.below(std::uint64_t{record.header_bytes()} * 8));
    }
    case DiskMishap::kFlipSegmentHeaderBit:
      return flip(prng.below(sizeof(SegmentHeader) * 8));
    case DiskMishap::kFlipFooterBit:
      return flip((size - 8192) * 8 + prng.below(8192ULL * 8));
    case DiskMishap::kSwapSectors:
      return swap(prng.below(sectors), prng.below(sectors));
    case DiskMishap::kSwapHeaders:
      return swap(pick_record(prng).header.offset / kSectorBytes,
                  pick_record(prng).header.offset / kSectorBytes);
    case DiskMishap::kTornGroup:
      return tear_group(prng);
    case DiskMishap::kLostGroup:
      return lose_group(prng);
    case DiskMishap::kStaleSegment:
      for (std::uint64_t i = 0; i < sectors; ++i) copy(images_.old, i, i);
      return;
    case DiskMishap::kRangeOfOld:
      return copy_range(images_.old, prng);
    case DiskMishap::kRangeOfNeighbour:
      return copy_range(images_.neighbour, prng);
    case DiskMishap::kRangeOfOtherStore:
      return copy_range(images_.other_store, prng);
    case DiskMishap::kRangeOfRandom:
      return fill_range(Role::kRandom, prng);
    case DiskMishap::kRangeOfZero:
      return fill_range(Role::kZero, prng);
    case DiskMishap::kGroupElsewhere:
      return move_group(prng);
    case DiskMishap::kOtherVersion:
      return change_version(prng);
    case DiskMishap::kTruncate:
      return truncate(prng.below(size));
    case DiskMishap::kTruncateFooter:
      return truncate(size - prng.below(8192));
  }
}

void FaultySegment::flip(std::uint64_t bit) {
  bytes_[bit / 8] ^= std::byte{1} << (bit % 8);
  origins_[bit / 8 / kSectorBytes].role = Role::kFlipped;
}

void FaultySegment::swap(std::uint64_t a, std::uint64_t b) {
  if (a == b) return;
  std::swap_ranges(sector_of(bytes_, a).begin(), sector_of(bytes_, a).end(), sector_of(bytes_, b).begin());
  std::swap(origins_[a], origins_[b]);
}

void FaultySegment::copy(const SegmentImage& from, std::uint64_t from_sector, std::uint64_t sector) {
  std::memcpy(bytes_.data() + sector * kSectorBytes, from.bytes.data() + from_sector * kSectorBytes,
              kSectorBytes);
  origins_[sector] = from.origins[from_sector];
}

void FaultySegment::copy_range(const SegmentImage& from, Prng& prng) {
  const ByteRange range = pick_range(prng);
  for (std::uint64_t i = range.begin; i < range.end; ++i) copy(from, i, i);
}

void FaultySegment::fill(std::uint64_t sector, Role role, Prng& prng) {
  for (std::byte& byte : sector_of(bytes_, sector)) {
    byte = role == Role::kZero ? std::byte{0} : std::byte(prng.next());
  }
  origins_[sector] = {role, 0};
}

void FaultySegment::fill_range(Role role, Prng& prng) {
  const ByteRange range = pick_range(prng);
  for (std::uint64_t i = range.begin; i < range.end; ++i) fill(i, role, prng);
}

void FaultySegment::tear_group(Prng& prng) {
  const ByteRange& group = images_.now.groups[prng.below(images_.now.groups.size())];
  const std::uint64_t lost_of_8 = 1 + prng.below(7);
  const bool is_fresh = prng.below(2) == 0;
  for (std::uint64_t i = group.begin / kSectorBytes; i < group.end / kSectorBytes; ++i) {
    if (prng.below(8) >= lost_of_8) continue;
    is_fresh ? fill(i, Role::kZero, prng) : copy(images_.old, i, i);
  }
}

void FaultySegment::lose_group(Prng& prng) {
  const ByteRange& group = images_.now.groups[prng.below(images_.now.groups.size())];
  for (std::uint64_t i = group.begin / kSectorBytes; i < group.end / kSectorBytes; ++i)
    copy(images_.old, i, i);
}

void FaultySegment::move_group(Prng& prng) {
  const std::vector<ByteRange>& groups = images_.now.groups;
  const ByteRange& from = groups[prng.below(groups.size())];
  const ByteRange& to = groups[prng.below(groups.size())];
  const std::uint64_t sectors = std::min(from.end - from.begin, to.end - to.begin) / kSectorBytes;
  for (std::uint64_t i = 0; i < sectors; ++i) {
    copy(images_.now, from.begin / kSectorBytes + i, to.begin / kSectorBytes + i);
  }
}

void FaultySegment::change_version(Prng& prng) {
  const DiskRecord& record = pick_record(prng);
  const std::span<std::byte> header = std::span(bytes_).subspan(record.header.offset, record.header_bytes());
  const FormatPrefix prefix{kRecordMagic, kFormatVersion + 1, record.header_bytes(),
                            seal_checksum(kRecordMagic, kFormatVersion + 1, header)};
  std::memcpy(header.data(), &prefix, sizeof prefix);
  origins_[record.header.offset / kSectorBytes].role = Role::kOtherVersion;
}

void FaultySegment::truncate(std::uint64_t bytes) {
  bytes_.resize(bytes);
}

ByteRange FaultySegment::pick_range(Prng& prng) const {
  const std::uint64_t begin =
      prng.below(2) == 0 ? prng.below(origins_.size()) : pick_record(prng).header.offset / kSectorBytes;
  return {begin, std::min<std::uint64_t>(origins_.size(), begin + 1 + prng.below(64))};
}

const DiskRecord& FaultySegment::pick_record(Prng& prng) const {
  return images_.now.records[prng.below(images_.now.records.size())];
}

}  // namespace kvtier::test
