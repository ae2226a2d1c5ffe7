#pragma once
// A store on simulated disks, what it looked like at an earlier time and what another store looks like; and the unkind
// things that happen to such disks between two lives. Seeded.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/sim_store.h"

namespace kvtier::test {

enum class StoreMishap : std::uint8_t {
  kBitFlip,
  kTornWrite,        ///< of a range, some sectors are those of an earlier time, or zeros
  kSwappedSectors,   ///< sectors, units, or whole groups of units lie at each other's place
  kStaleSegment,     ///< a segment is as it was at an earlier time, or another segment's
  kForeignFile,      ///< a path, or a part of it, is another store's, another path's, or another program's
  kTruncatedFooter,  ///< the file ends inside a segment's last units, or they are zeros from there on
};
inline constexpr std::size_t kStoreMishapCount = 6;
std::string_view store_mishap_name(StoreMishap mishap);

using DiskImages = std::vector<std::vector<std::byte>>;  ///< a path each

/// Two paths of a store after several lives, and whence wrong bytes may come.
struct DiskShape {
  DiskImages now;
  DiskImages earlier;
  DiskImages other_store;
  std::vector<std::vector<std::uint64_t>> units;  ///< of `now`, those that are not zero
  std::vector<DiskKey> keys;                      ///< all that were ever put
};
DiskShape make_disk_shape(std::uint64_t seed);

/// As the stores of a shape are opened.
SimStoreOptions disk_shape_options();

/// One fault of that kind. The bytes of `images`, which were those of shape.now, are changed.
void inflict(StoreMishap mishap, const DiskShape& shape, Prng& chance, DiskImages& images);

/// Disks that have these bytes.
SimDisk disk_of(const DiskImages& images, std::uint64_t seed);

}  // namespace kvtier::test
