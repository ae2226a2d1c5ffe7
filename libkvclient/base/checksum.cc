#include "libkvclient/base/checksum.h"

#include <xxhash.h>

namespace kvtier {

std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace kvtier
