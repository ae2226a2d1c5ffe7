// Metadata of GGUF files: every type of value, and files that are cut, damaged or mean harm.

#include "tools/planner/gguf_header.h"

#include <gtest/gtest.h>

#include "tests/unit/planner/gguf_bytes.h"

namespace kvtier::test {
namespace {

using plan::GgufHeader;
using plan::GgufValue;

void expect_refusal(const std::string& bytes, std::string_view says, Code code = Code::kInvalid) {
  const Result<GgufHeader> header = read_gguf(bytes);
  ASSERT_FALSE(header.is_ok()) << says;
  EXPECT_EQ(header.code(), code);
  EXPECT_NE(header.status().message().find(says), std::string::npos) << says << "\n"
                                                                     << header.status().message();
}

GgufBytes everything(std::uint32_t version) {
  GgufBytes file(version);
  file.text("general.architecture", "llama").u32("llama.block_count", 32);
  file.number("u8", GgufType::kU8, 200)
      .number("i8", GgufType::kI8, 100)
      .number("u16", GgufType::kU16, 60'000);
  file.number("i16", GgufType::kI16, 30'000)
      .number("i32", GgufType::kI32, 5)
      .number("f32", GgufType::kF32, 1);
  file.number("bool", GgufType::kBool, 1).number("u64", GgufType::kU64, ~std::uint64_t{0});
  file.number("i64", GgufType::kI64, 7).number("f64", GgufType::kF64, 1).number("minus", GgufType::kI8, 0xff);
  file.u32s("list", {1, 2, 3}).bools("flags", {true, false}).texts("tokens", {"a", "", "bcd"});
  file.list("scores", GgufType::kF32, 2, le64(0)).text("long", std::string(10'000, 'x'));
  return file;
}

TEST(GgufHeader, EveryTypeIsReadOrWalkedOver) {
  for (const std::uint32_t version : {2U, 3U}) {
    const Result<GgufHeader> read = read_gguf(everything(version).bytes());
    ASSERT_TRUE(read.is_ok()) << read.status().message();
    const GgufHeader& header = read.value();
    EXPECT_EQ(header.version, version);
    EXPECT_EQ(header.find("general.architecture")->text, "llama");
    EXPECT_EQ(header.find("llama.block_count")->numbers, std::vector<std::uint64_t>{32});
    EXPECT_EQ(header.find("u8")->numbers.front(), 200U);
    EXPECT_EQ(header.find("u16")->numbers.front(), 60'000U);
    EXPECT_EQ(header.find("i16")->numbers.front(), 30'000U);
    EXPECT_EQ(header.find("u64")->numbers.front(), ~std::uint64_t{0});
    EXPECT_EQ(header.find("bool")->numbers.front(), 1U);
    EXPECT_TRUE(header.find("minus")->is_negative);
    EXPECT_EQ(header.find("list")->numbers, (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(header.find("flags")->numbers, (std::vector<std::uint64_t>{1, 0}));
    EXPECT_EQ(header.find("tokens")->kind, GgufValue::Kind::kOther);
    EXPECT_EQ(header.find("scores")->kind, GgufValue::Kind::kOther);
    EXPECT_EQ(header.find("f64")->kind, GgufValue::Kind::kOther);
    EXPECT_EQ(header.find("long")->text, "") << "walked over";
    EXPECT_EQ(header.find("none"), nullptr);
  }
}

TEST(GgufHeader, OtherVersionsAndByteOrdersAreNamed) {
  expect_refusal(GgufBytes(1).bytes(), "it has version 1; versions 2 and 3", Code::kVersion);
  expect_refusal(GgufBytes(4).bytes(), "it has version 4", Code::kVersion);
  expect_refusal(GgufBytes(0x03000000).bytes(), "big-endian", Code::kVersion);
  expect_refusal("GGML" + le32(3) + le64(0) + le64(0), "does not begin with GGUF");
}

// Cut at every byte: an error each time, and never one of the process.
TEST(GgufHeader, AFileThatIsCutAnywhereIsRefused) {
  const std::string whole = everything(3).bytes();
  for (std::size_t size = 0; size < whole.size(); size += size < 700 ? 1 : 97) {
    const Result<GgufHeader> header = read_gguf(whole.substr(0, size));
    ASSERT_FALSE(header.is_ok()) << size;
    EXPECT_NE(header.status().message().find("cut or damaged"), std::string::npos)
        << size << header.status().message();
  }
}

// Whatever a byte becomes, there is an answer: another value, or an error with its cause.
TEST(GgufHeader, EveryByteMayBeWrong) {
  const std::string whole = everything(3).bytes();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < 900; ++at) {
    for (const char byte : {'\0', '\1', '\x7f', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = byte;
      const Result<GgufHeader> header = read_gguf(bytes);
      if (header.is_ok()) continue;
      ++refused;
      EXPECT_NE(header.status().message(), "");
    }
  }
  EXPECT_GT(refused, 900U) << "lengths, types, counts";
}

TEST(GgufHeader, LengthsThatLieTakeNoMemory) {
  const std::uint64_t most = ~std::uint64_t{0};
  expect_refusal(GgufBytes().bytes(most - 1), "18446744073709551614 keys; at most 65536");
  expect_refusal("GGUF" + le32(3) + le64(0) + le64(1) + le64(most),
                 "a key at offset 32 would have 18446744073709551615 bytes");
  expect_refusal("GGUF" + le32(3) + le64(0) + le64(1) + le64(1 << 20) + std::string(1 << 20, 'k'),
                 "is empty or longer than 1024");
  expect_refusal("GGUF" + le32(3) + le64(0) + le64(1) + le64(0) + le32(4) + le32(1), "is empty or longer");
  const auto text = static_cast<std::uint32_t>(GgufType::kText);
  expect_refusal(GgufBytes().raw("a", text, le64(most)).bytes(), "a at offset");
  expect_refusal(GgufBytes().raw("a", text, le64(4000) + "short").bytes(), "would have 4000 bytes");
  for (const GgufType type : {GgufType::kU8, GgufType::kU64, GgufType::kText, GgufType::kF32})
    expect_refusal(GgufBytes().list("a", type, most, "12345678").bytes(),
                   "a is a list of 18446744073709551615 values");
  // (2^64 - 1) / 8 values of 8 bytes would wrap to few bytes.
  expect_refusal(GgufBytes().list("a", GgufType::kU64, (most / 8) + 2, "12345678").bytes(),
                 "a is a list of 2305843009213693953");
}

TEST(GgufHeader, TypesThatThereAreNot) {
  expect_refusal(GgufBytes().raw("a", 13, le64(0)).bytes(), "a has type 13, which there is not");
  expect_refusal(GgufBytes().raw("a", ~0U, le64(0)).bytes(), "a has type 4294967295");
  expect_refusal(GgufBytes().list("a", static_cast<GgufType>(13), 1, le64(0)).bytes(), "a has type 13");
  expect_refusal(GgufBytes().list("a", GgufType::kList, 1, le64(0)).bytes(), "a is a list of lists");
}

TEST(GgufHeader, AKeyIsThereOnce) {
  expect_refusal(GgufBytes().u32("a", 1).u32("a", 2).bytes(), "the key a is there twice");
}

// Two thousand lists of 65,536 bytes are 128 MiB of file, and would be 1 GiB of memory.
TEST(GgufHeader, ManyListsAreNotKept) {
  GgufBytes file;
  const std::string values(65'536, '\1');
  for (int i = 0; i < 20; ++i) file.list("list" + std::to_string(i), GgufType::kU8, values.size(), values);
  expect_refusal(file.bytes(), "more than 1048576 numbers");
  const Result<GgufHeader> longer =
      read_gguf(GgufBytes().list("a", GgufType::kU8, 65'537, values + "\1").bytes());
  ASSERT_TRUE(longer.is_ok());
  EXPECT_EQ(longer.value().find("a")->kind, GgufValue::Kind::kOther) << "walked over";
}

}  // namespace
}  // namespace kvtier::test
