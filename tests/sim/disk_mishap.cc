#include "tests/sim/disk_mishap.h"

#include <algorithm>

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSegmentBytes = 128 * kKiB;
constexpr std::uint64_t kSegments = 8;
constexpr std::uint64_t kFileBytes = kSegmentsOffset + kSegments * kSegmentBytes;
constexpr std::uint64_t kKeys = 90;
constexpr std::size_t kPaths = 2;

void keep_images(SimDisk& disk, DiskImages& images) {
  images.clear();
  for (std::size_t i = 0; i < kPaths; ++i)
    images.push_back(disk.image(disk.open("path" + std::to_string(i))));
}

/// A life: puts of random blocks, a mark, a clean end or none. Not all puts find room, which does not matter.
void live(SimDisk& disk, Prng& chance, const SimStoreOptions& options, bool is_closed) {
  SimStore sim(disk, options, kPaths, kFileBytes);
  KV_CHECK(sim.open(), "an unharmed store opens");
  for (std::uint64_t i = 0; i < 25; ++i) {
    std::vector<DiskKey> keys;
    const std::uint64_t first = chance.below(kKeys);
    for (std::uint64_t k = 0; k < 1 + chance.below(6); ++k)
      keys.push_back(sim_key((first + k) % kKeys, chance.below(2)));
    (void)sim.put(keys);
    (void)sim.settle();
    if (chance.below(12) == 0) (void)sim.mark_now(sim_key(chance.below(kKeys), chance.below(2)));
  }
  (void)sim.flush_now();
  if (!is_closed) return;
  sim.close();
  (void)sim.settle();
}

std::span<std::byte> at(std::vector<std::byte>& image, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t begin = std::min<std::uint64_t>(offset, image.size());
  return std::span(image).subspan(begin, std::min<std::uint64_t>(bytes, image.size() - begin));
}

void copy(const std::vector<std::byte>& from, std::uint64_t from_offset, std::span<std::byte> to) {
  const std::uint64_t begin = std::min<std::uint64_t>(from_offset, from.size());
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin),
              std::min<std::uint64_t>(to.size(), from.size() - begin), to.begin());
}

/// Where something is: most of a disk is empty.
std::uint64_t pick_unit(const DiskShape& shape, std::size_t path, Prng& chance) {
  const std::vector<std::uint64_t>& units = shape.units[path];
  return units[chance.below(units.size())] * kAlignmentMin;
}

// Half of them where structures lie: a flip in a payload has one effect only.
void flip(const DiskShape& shape, Prng& chance, DiskImages& images) {
  const std::size_t path = chance.below(kPaths);
  for (std::uint64_t i = 0; i < 1 + chance.below(4); ++i) {
    std::uint64_t unit = pick_unit(shape, path, chance);
    for (int tries = chance.below(2) == 0 ? 24 : 0; tries > 0 && images[path][unit] != std::byte{'K'};
         --tries)
      unit = pick_unit(shape, path, chance);
    const std::uint64_t byte = unit + chance.below(chance.below(2) == 0 ? kSectorBytes : kAlignmentMin);
    images[path][byte] ^= std::byte{1} << chance.below(8);
  }
}

void tear(const DiskShape& shape, Prng& chance, DiskImages& images) {
  const std::size_t path = chance.below(kPaths);
  const std::uint64_t begin = pick_unit(shape, path, chance);
  const bool is_zero = chance.below(2) == 0;
  for (std::uint64_t i = 0; i < 1 + chance.below(64); ++i) {
    if (chance.below(2) == 0) continue;
    const std::span<std::byte> sector = at(images[path], begin + i * kSectorBytes, kSectorBytes);
    if (is_zero) {
      std::ranges::fill(sector, std::byte{0});
    } else {
      copy(shape.earlier[path], begin + i * kSectorBytes, sector);
    }
  }
}

void swap(const DiskShape& shape, Prng& chance, DiskImages& images) {
  constexpr std::array<std::uint64_t, 4> kLengths = {kSectorBytes, kSectorBytes, kAlignmentMin,
                                                     8 * kAlignmentMin};
  const std::uint64_t bytes = kLengths[chance.below(kLengths.size())];
  const std::size_t a = chance.below(kPaths);
  const std::size_t b = chance.below(kPaths);
  const std::span<std::byte> one = at(images[a], pick_unit(shape, a, chance), bytes);
  const std::span<std::byte> two = at(images[b], pick_unit(shape, b, chance), bytes);
  const std::vector<std::byte> kept(one.begin(), one.end());
  const std::size_t count = std::min(one.size(), two.size());
  std::copy_n(two.begin(), count, one.begin());
  std::copy_n(kept.begin(), count, two.begin());
}

void make_stale(const DiskShape& shape, Prng& chance, DiskImages& images) {
  const std::size_t path = chance.below(kPaths);
  const std::uint64_t to = kSegmentsOffset + chance.below(kSegments) * kSegmentBytes;
  const std::span<std::byte> segment = at(images[path], to, kSegmentBytes);
  if (chance.below(4) != 0) return copy(shape.earlier[path], to, segment);
  copy(shape.now[chance.below(kPaths)], kSegmentsOffset + chance.below(kSegments) * kSegmentBytes, segment);
}

void make_foreign(const DiskShape& shape, Prng& chance, DiskImages& images) {
  const std::size_t path = chance.below(kPaths);
  const std::uint64_t segment = kSegmentsOffset + chance.below(kSegments) * kSegmentBytes;
  switch (chance.below(5)) {
    case 0:
      images[path] = shape.other_store[path];
      return;
    case 1:
      images[path] = shape.now[1 - path];
      return;
    case 2:
      return copy(shape.other_store[path], segment, at(images[path], segment, kSegmentBytes));
    case 3:
      for (std::byte& byte : at(images[path], segment, kSegmentBytes))
        byte = static_cast<std::byte>(chance.next());
      return;
    default: {
      const std::uint64_t offset = chance.below(2) == 0 ? 0 : pick_unit(shape, path, chance);
      for (std::byte& byte : at(images[path], offset, 16 * kKiB))
        byte = static_cast<std::byte>(chance.next());
      return;
    }
  }
}

void cut_footer(Prng& chance, DiskImages& images) {
  const std::size_t path = chance.below(kPaths);
  const std::uint64_t segment = chance.below(kSegments);
  const std::uint64_t end = kSegmentsOffset + (segment + 1) * kSegmentBytes;
  const std::uint64_t cut = end - 1 - chance.below(3 * kAlignmentMin);
  if (chance.below(3) == 0) {
    images[path].resize(cut);
    return;
  }
  std::ranges::fill(at(images[path], cut, end - cut), std::byte{0});
}

}  // namespace

std::string_view store_mishap_name(StoreMishap mishap) {
  static constexpr std::array<std::string_view, kStoreMishapCount> kNames = {
      "bit_flips", "torn_writes", "swapped_sectors", "stale_segments", "foreign_files", "truncated_footers"};
  return kNames[static_cast<std::size_t>(mishap)];
}

SimStoreOptions disk_shape_options() {
  SimStoreOptions options = small_sim_options();
  options.slots = 64;
  return options;
}

DiskShape make_disk_shape(std::uint64_t seed) {
  Prng chance(seed);
  DiskShape shape;
  SimDisk disk(chance.next());
  SimStoreOptions options = disk_shape_options();
  live(disk, chance, options, chance.below(2) == 0);
  live(disk, chance, options, chance.below(2) == 0);
  keep_images(disk, shape.earlier);
  live(disk, chance, options, chance.below(2) == 0);
  live(disk, chance, options, seed % 2 == 0);
  keep_images(disk, shape.now);
  SimDisk other(chance.next());
  options.store.fresh_store = {{0x9999, 0x8888}};
  live(other, chance, options, true);
  keep_images(other, shape.other_store);
  for (const std::vector<std::byte>& image : shape.now) {
    shape.units.emplace_back();
    for (std::uint64_t unit = 0; unit * kAlignmentMin < image.size(); ++unit) {
      const auto bytes = std::span(image).subspan(unit * kAlignmentMin, kAlignmentMin);
      if (std::ranges::any_of(bytes, [](std::byte byte) { return byte != std::byte{0}; }))
        shape.units.back().push_back(unit);
    }
  }
  for (std::uint64_t space = 0; space < 2; ++space) {
    for (std::uint64_t number = 0; number < kKeys; ++number) shape.keys.push_back(sim_key(number, space));
  }
  return shape;
}

void inflict(StoreMishap mishap, const DiskShape& shape, Prng& chance, DiskImages& images) {
  switch (mishap) {
    case StoreMishap::kBitFlip:
      return flip(shape, chance, images);
    case StoreMishap::kTornWrite:
      return tear(shape, chance, images);
    case StoreMishap::kSwappedSectors:
      return swap(shape, chance, images);
    case StoreMishap::kStaleSegment:
      return make_stale(shape, chance, images);
    case StoreMishap::kForeignFile:
      return make_foreign(shape, chance, images);
    case StoreMishap::kTruncatedFooter:
      return cut_footer(chance, images);
  }
}

SimDisk disk_of(const DiskImages& images, std::uint64_t seed) {
  SimDisk disk(seed);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const int file = disk.create("path" + std::to_string(i), images[i].size());
    disk.image(file) = images[i];
  }
  return disk;
}

}  // namespace kvtier::test
