#pragma once
// Pattern blocks: bytes generated from the key, so that any reader can tell whose bytes it holds.

#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/base/digest.h"
#include "libkvclient/base/prng.h"

namespace kvtier::test {

/// A key with all bits in use, different for each (chain, position).
inline Key pattern_key(std::uint64_t chain, std::uint64_t position) {
  Prng prng(mix64(chain * 0x9e3779b97f4a7c15ULL + 1) ^ mix64(position + 0x51ed27));
  return Key{{prng.next(), prng.next(), prng.next(), prng.next() | 1}};
}

/// Fills whole 8-byte words; a tail of up to 7 bytes is zero.
void fill_pattern(const Key& key, std::span<std::byte> block);
/// Index of the first byte that is not the key's, or block.size() when all are.
std::size_t check_pattern(const Key& key, std::span<const std::byte> block);

}  // namespace kvtier::test
