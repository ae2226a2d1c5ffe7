#include "tests/support/pattern_block.h"

#include <cstring>

namespace kvtier::test {
namespace {

// Word i of a key's pattern: one multiplication, so that checking runs near memory speed.
std::uint64_t word_of(std::uint64_t seed, std::size_t i) {
  return (seed + i) * 0x9e3779b97f4a7c15ULL;
}
std::uint64_t seed_of(const Key& key) {
  return mix64(key.words[0] ^ mix64(key.words[1] ^ mix64(key.words[2] ^ key.words[3])));
}

}  // namespace

void fill_pattern(const Key& key, std::span<std::byte> block) {
  const std::uint64_t seed = seed_of(key);
  const std::size_t words = block.size() / 8;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = word_of(seed, i);
    std::memcpy(block.data() + i * 8, &word, 8);
  }
  std::memset(block.data() + words * 8, 0, block.size() % 8);
}

std::size_t check_pattern(const Key& key, std::span<const std::byte> block) {
  const std::uint64_t seed = seed_of(key);
  const std::size_t words = block.size() / 8;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + i * 8, 8);
    if (word != word_of(seed, i)) return i * 8;
  }
  for (std::size_t i = words * 8; i < block.size(); ++i) {
    if (block[i] != std::byte{0}) return i;
  }
  return block.size();
}

}  // namespace kvtier::test
