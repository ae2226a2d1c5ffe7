#include "libkvclient/base/digest.h"

#include <gtest/gtest.h>

namespace kvtier {
namespace {

constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Digest sha_of(std::string_view text) {
  return sha256(std::as_bytes(std::span(text)));
}

TEST(Digest, GoldenValues) {
  EXPECT_EQ(to_hex(sha_of("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha_of("abc")), kAbc);
}

TEST(Digest, HexGoesBothWaysInBothCases) {
  std::string upper(kAbc);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(digest_from_hex(kAbc).value(), sha_of("abc"));
  EXPECT_EQ(digest_from_hex(upper).value(), sha_of("abc"));
  EXPECT_EQ(to_hex(digest_from_hex(upper).value()), kAbc);
}

TEST(Digest, WrongHexIsRefused) {
  const std::string good(kAbc);
  for (const std::string& text : {std::string(), good.substr(1), good + "0", "g" + good.substr(1),
                                  " " + good.substr(1), good.substr(1) + std::string(1, '\0')}) {
    EXPECT_EQ(digest_from_hex(text).code(), Code::kInvalid) << text;
  }
  EXPECT_NE(digest_from_hex("ab").status().message().find("64 hexadecimal digits, not 2"), std::string::npos);
}

TEST(Digest, ZeroMeansNoKey) {
  EXPECT_TRUE(Digest{}.is_zero());
  for (std::size_t i = 0; i < 4; ++i) {
    Digest digest{};
    digest.words[i] = 1;
    EXPECT_FALSE(digest.is_zero());
  }
}

TEST(Digest, BytesAreTakenAsTheyLie) {
  const Digest digest = sha_of("abc");
  EXPECT_EQ(digest_from_bytes(&digest), digest);
}

}  // namespace
}  // namespace kvtier
