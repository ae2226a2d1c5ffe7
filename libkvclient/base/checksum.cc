#include "libkvclient/base/checksum.h"

#include <xxhash.h>

// The distribution builds the library for the oldest processor; this header's names take the widest instructions that the
// processor has. The sums are the same.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

namespace kvtier {

std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace kvtier
