#include "libkvclient/base/checksum.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace kvtier {
namespace {

std::uint64_t sum(std::string_view text, std::uint64_t seed = 0) {
  return checksum64(std::as_bytes(std::span(text)), seed);
}

// Published values of XXH3-64: they are on disks and in adopted memory.
TEST(Checksum, GoldenValues) {
  EXPECT_EQ(sum(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(sum("a"), 0xe6c632b61e964e1fULL);
  EXPECT_EQ(sum("abc"), 0x78af5f94892f3950ULL);
}

TEST(Checksum, SeedChangesIt) {
  EXPECT_NE(sum("abc", 1), sum("abc", 0));
}

TEST(Checksum, EveryByteOfABlockCounts) {
  std::vector<std::byte> block(64 * 1024, std::byte{0x5a});
  const std::uint64_t before = checksum64(block);
  for (std::size_t at = 0; at < block.size(); at += 257) {
    block[at] ^= std::byte{1};
    EXPECT_NE(checksum64(block), before) << at;
    block[at] ^= std::byte{1};
  }
  EXPECT_EQ(checksum64(block), before);
}

}  // namespace
}  // namespace kvtier
