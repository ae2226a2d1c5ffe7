// Keys are pinned bytes: a router in another language, another release and another process get the same ones
// (report C-04). The golden values come from a CBOR encoder of a few lines in Python and hashlib.
#include "libkvclient/base/block_hash.h"

#include <gtest/gtest.h>

#include <numeric>

namespace kvtier {
namespace {

using Tokens = std::vector<std::uint32_t>;

Tokens range(std::uint32_t first, std::uint32_t end) {
  Tokens tokens(end - first);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

std::string hex_of(const Tokens& tokens, std::string_view salt = {}) {
  return to_hex(block_key(none_hash(), tokens, salt));
}

TEST(BlockHash, NoneHashIsVllms) {
  EXPECT_EQ(to_hex(none_hash()), "9bd96a485ad84efdafb72ee48a1d7a69bcead0f8f0433173941b276b9581eef0");
}

TEST(BlockHash, VectorOfTheDesign) {
  EXPECT_EQ(hex_of({1, 2, 300, 70000}), "67516cd611fd0d7e4c5c7f6fdbf4d93a304496db502c69895dc6a82deea8ae72");
}

TEST(BlockHash, C04EveryIntegerWidth) {
  EXPECT_EQ(hex_of({0, 23, 24, 255, 256, 65535, 65536, 4294967295}),
            "deaa46fcabbf6b126d28ad1292550fb894177c76c7b8e270e04824cbf674d83f");
}

TEST(BlockHash, C04EveryArrayWidth) {
  EXPECT_EQ(hex_of({}), "b85598ff86fb5e95d66e56b3165ec1d7894cfb95730a88a4cdad952dd7702c55");
  EXPECT_EQ(hex_of(range(0, 16)), "dc918a88b139e5afe60b88eda27508d4aee16c10fdc354791efea06206ac0749");
  EXPECT_EQ(hex_of(range(1000, 1300)), "7ad45dab3b01126acf38f305e22c16f0807c5fc7d744086304069819f604ace7");
}

TEST(BlockHash, C04Chain) {
  const std::vector<Key> keys = block_keys(range(0, 32), 16, "").value();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(to_hex(keys[0]), "dc918a88b139e5afe60b88eda27508d4aee16c10fdc354791efea06206ac0749");
  EXPECT_EQ(to_hex(keys[1]), "c300ec275d7bf08af8fc63e76cdc0086911bbc7091e03c5cf892553bef84ef0c");
}

TEST(BlockHash, C04Salts) {
  const Tokens tokens = {1, 2, 300, 70000};
  EXPECT_EQ(hex_of(tokens, "tenant-a"), "1fe475c13166375a1274aa65327d8a6450d8a98c3b40c8ec2709d72aa455a84c");
  EXPECT_EQ(hex_of(tokens, std::string("a\0b", 3)),
            "bcd26de546d6ef4f71e6ce96a27c3aa8e2cf0a6a79f97c5d9c261200599b1991");
  EXPECT_EQ(hex_of(tokens, std::string(4096, 'x')),
            "66c567f2be5162f2f8f5cdeaafa3d67e07d103b733a119b14b0558346f5da973");
}

TEST(BlockHash, SaltIsWholeAndEntersTheFirstBlockOnly) {
  const Tokens tokens = range(0, 32);
  const auto plain = block_keys(tokens, 16, "").value();
  const auto salted = block_keys(tokens, 16, "s").value();
  EXPECT_NE(plain[0], salted[0]);
  EXPECT_NE(plain[1], salted[1]);
  EXPECT_EQ(salted[1], block_key(salted[0], range(16, 32), ""));
  const std::string with_nul("a\0b", 3);
  EXPECT_NE(block_keys(tokens, 16, with_nul).value(), block_keys(tokens, 16, "a").value());
  EXPECT_NE(block_keys(tokens, 16, with_nul).value(), block_keys(tokens, 16, std::string("a\0c", 3)).value());
}

TEST(BlockHash, ContinuedChainEqualsTheWholeOne) {
  const Tokens tokens = range(5, 5 + 48);
  const auto whole = block_keys(tokens, 16, "salt").value();
  const auto tail = block_keys(std::span(tokens).subspan(16), 16, "salt", whole.data()).value();
  ASSERT_EQ(tail.size(), 2U);
  EXPECT_EQ(tail[0], whole[1]);
  EXPECT_EQ(tail[1], whole[2]);
}

TEST(BlockHash, TrailingTokensHaveNoKey) {
  EXPECT_TRUE(block_keys(range(0, 15), 16, "").value().empty());
  EXPECT_EQ(block_keys(range(0, 31), 16, "").value().size(), 1U);
  EXPECT_TRUE(block_keys({}, 16, "").value().empty());
}

TEST(BlockHash, LimitsAreRefusedWithNumbers) {
  EXPECT_EQ(block_keys(range(0, 4), 0, "").code(), Code::kInvalid);
  EXPECT_TRUE(block_keys(range(0, 4), 4, std::string(kSaltBytesMax, 's')).is_ok());
  const auto over = block_keys(range(0, 4), 4, std::string(kSaltBytesMax + 1, 's'));
  EXPECT_EQ(over.code(), Code::kInvalid);
  EXPECT_EQ(over.status().message(), "salt has 4097 bytes; at most 4096");
}

TEST(BlockHash, BlockBordersMatter) {
  const Tokens tokens = range(0, 64);
  EXPECT_NE(block_keys(tokens, 32, "").value().back(), block_keys(tokens, 16, "").value().back());
}

}  // namespace
}  // namespace kvtier
