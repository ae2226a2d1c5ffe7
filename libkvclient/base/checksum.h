#pragma once
// Payload and record checksums: XXH3 64 bit (adapter of xxHash). Not cryptographic: against accidents, not
// liars.

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvtier {

std::uint64_t checksum64(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace kvtier
