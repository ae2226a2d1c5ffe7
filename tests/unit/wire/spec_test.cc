#include "libkvclient/wire/spec.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "libkvclient/base/prng.h"
#include "tests/unit/wire/golden.h"

namespace kvtier {
namespace {

Spec sample() {
  Spec spec;
  spec.model = "llama-3-8b";
  spec.revision = "sha256:abc";
  spec.tokenizer = "sha256:def";
  spec.block_tokens = 16;
  spec.parts = {{"kv", 1000, 0, 32, 8, 128, "f16", "[layer][k,v][token][head][dim]"},
                {"mamba", 77, 3, 4, 0, 0, "f32", "flat"}};
  spec.rope = {{"theta", "500000"}, {"scaling", "none"}};
  spec.shard = SpecShard{0, 4, 2, 0, 32};
  spec.extra = {{"engine", "test"}, {std::string("n\0ul", 4), std::string("v\0al", 4)}};
  return spec;
}

std::vector<std::byte> bytes_of(const Spec& spec) {
  Result<std::vector<std::byte>> encoding = encode_spec(spec);
  EXPECT_TRUE(encoding.is_ok()) << encoding.status().to_string();
  return encoding.value();
}

using Change = std::pair<std::string, std::function<void(Spec&)>>;

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"model", [](Spec& s) { s.model += "x"; }},
      {"revision", [](Spec& s) { s.revision += "x"; }},
      {"adapter", [](Spec& s) { s.adapter = "lora"; }},
      {"tokenizer", [](Spec& s) { s.tokenizer += "x"; }},
      {"block_tokens", [](Spec& s) { s.block_tokens = 32; }},
      {"parts.count", [](Spec& s) { s.parts.pop_back(); }},
      {"parts[0].name", [](Spec& s) { s.parts[0].name = "swa"; }},
      {"parts[0].bytes", [](Spec& s) { ++s.parts[0].bytes; }},
      {"parts[0].layer_first", [](Spec& s) { ++s.parts[0].layer_first; }},
      {"parts[0].layer_count", [](Spec& s) { ++s.parts[0].layer_count; }},
      {"parts[0].kv_heads", [](Spec& s) { ++s.parts[0].kv_heads; }},
      {"parts[0].head_dim", [](Spec& s) { ++s.parts[0].head_dim; }},
      {"parts[0].dtype", [](Spec& s) { s.parts[0].dtype = "i8"; }},
      {"parts[0].layout", [](Spec& s) { s.parts[0].layout = "HND"; }},
      {"parts[0].name", [](Spec& s) { std::swap(s.parts[0], s.parts[1]); }},
      {"rope.theta", [](Spec& s) { s.rope["theta"] = "1"; }},
      {"rope.theta", [](Spec& s) { s.rope.erase("theta"); }},
      {"rope.beta", [](Spec& s) { s.rope["beta"] = "1"; }},
      {"codec", [](Spec& s) { s.codec = "int8"; }},
      {"shard.kv_head_first", [](Spec& s) { s.shard->kv_head_first = 4; }},
      {"shard.kv_head_count", [](Spec& s) { s.shard->kv_head_count = 8; }},
      {"shard.max_tp", [](Spec& s) { s.shard->max_tp = 4; }},
      {"shard.layer_first", [](Spec& s) { s.shard->layer_first = 1; }},
      {"shard.layer_count", [](Spec& s) { s.shard->layer_count = 16; }},
      {"shard", [](Spec& s) { s.shard.reset(); }},
      {"extra.engine", [](Spec& s) { s.extra["engine"] = "other"; }},
      {"extra.zz", [](Spec& s) { s.extra["zz"] = ""; }},
  };
  return all;
}

TEST(Spec, EncodesAndDecodes) {
  const Result<Spec> again = decode_spec(bytes_of(sample()));
  ASSERT_TRUE(again.is_ok()) << again.status().to_string();
  EXPECT_EQ(again.value(), sample());
}

TEST(Spec, C02_EveryFieldIsInTheDigestAndNamedWhenItDiffers) {
  std::set<std::string> digests{to_hex(spec_digest(sample()).value())};
  for (const auto& [field, change] : changes()) {
    Spec other = sample();
    change(other);
    EXPECT_TRUE(digests.insert(to_hex(spec_digest(other).value())).second) << field;
    EXPECT_EQ(spec_difference(sample(), other).substr(0, field.size()), field)
        << spec_difference(sample(), other);
    EXPECT_NE(spec_difference(other, sample()), "");
  }
  EXPECT_EQ(spec_difference(sample(), sample()), "");
}

TEST(Spec, C04_TheEncodingIsTheGoldenOne) {
  const std::vector<std::byte> bytes = bytes_of(sample());
  EXPECT_TRUE(test::is_golden("spec_v1.bin", bytes)) << "every stored block would become unreachable";
  EXPECT_EQ(to_hex(sha256(bytes)), "2fb3c560f0e6d5c05055c01d6b7c651710a012198b509df3fd017809aa01c632");
}

TEST(Spec, PartsAreAligned) {
  const Spec spec = sample();
  EXPECT_EQ(spec.part_offset(0), 0U);
  EXPECT_EQ(spec.part_offset(1), 1024U);
  EXPECT_EQ(spec.block_bytes(), 1024U + 77U);
}

void expect_refused(const std::function<void(Spec&)>& change, const std::string& field) {
  Spec spec = sample();
  change(spec);
  const Status status = validate_spec(spec);
  EXPECT_EQ(status.code(), Code::kInvalid) << field;
  EXPECT_NE(status.message().find(field), std::string::npos) << status.message();
  EXPECT_EQ(encode_spec(spec).code(), Code::kInvalid);
}

TEST(Spec, WrongFieldsAreNamed) {
  expect_refused([](Spec& s) { s.model.clear(); }, "model");
  expect_refused([](Spec& s) { s.revision.clear(); }, "revision");
  expect_refused([](Spec& s) { s.tokenizer.clear(); }, "tokenizer");
  expect_refused([](Spec& s) { s.block_tokens = 0; }, "block_tokens");
  expect_refused([](Spec& s) { s.block_tokens = 4097; }, "block_tokens");
  expect_refused([](Spec& s) { s.parts.clear(); }, "parts");
  expect_refused([](Spec& s) { s.parts.resize(17, s.parts[0]); }, "parts");
  expect_refused([](Spec& s) { s.parts[1].name = "kv"; }, "parts[1].name");
  expect_refused([](Spec& s) { s.parts[1].bytes = 0; }, "parts[1].bytes");
  expect_refused([](Spec& s) { s.parts[1].bytes = kBlockBytesMax + 1; }, "parts[1].bytes");
  expect_refused([](Spec& s) { s.parts[0].bytes = s.parts[1].bytes = kBlockBytesMax; }, "parts");
  expect_refused([](Spec& s) { s.parts[1].bytes = ~std::uint64_t{0}; }, "parts[1].bytes");
  expect_refused([](Spec& s) { s.parts[0].layer_count = 0; }, "parts[0].layer_count");
  expect_refused([](Spec& s) { s.parts[0].dtype = "fp16"; }, "parts[0].dtype");
  expect_refused([](Spec& s) { s.parts[0].layout.clear(); }, "parts[0].layout");  // C-09
  expect_refused([](Spec& s) { s.codec.clear(); }, "codec");
  expect_refused([](Spec& s) { s.shard->max_tp = 0; }, "shard.max_tp");
  expect_refused([](Spec& s) { s.rope[""] = "x"; }, "rope");
}

TEST(Spec, TooLongAnEncodingIsRefused) {
  Spec spec = sample();
  spec.extra["long"] = std::string(kSpecBytesMax, 'x');
  EXPECT_EQ(encode_spec(spec).code(), Code::kInvalid);
  const std::vector<std::byte> bytes(kSpecBytesMax + 1);
  EXPECT_EQ(decode_spec(bytes).code(), Code::kInvalid);
}

TEST(Spec, EveryTruncationAndExtensionIsRefused) {
  std::vector<std::byte> bytes = bytes_of(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode_spec(std::span(bytes).first(length)).code(), Code::kInvalid) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(decode_spec(bytes).code(), Code::kInvalid);
}

TEST(Spec, WhatIsAcceptedIsCanonical) {
  // Any change of any byte is refused, or is the one encoding of another spec.
  const std::vector<std::byte> original = bytes_of(sample());
  Prng chance(1);
  for (std::size_t at = 0; at < original.size(); ++at) {
    for (int round = 0; round < 8; ++round) {
      std::vector<std::byte> bytes = original;
      bytes[at] ^= static_cast<std::byte>(chance.below(255) + 1);
      const Result<Spec> spec = decode_spec(bytes);
      if (!spec.is_ok()) continue;
      EXPECT_EQ(bytes_of(spec.value()), bytes);
      EXPECT_NE(spec.value(), sample());
    }
  }
}

TEST(Spec, RandomBytesAreRefused) {
  Prng chance(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(chance.below(300));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(chance.below(256));
    EXPECT_EQ(decode_spec(bytes).code(), Code::kInvalid);
  }
}

TEST(Spec, FieldsTellWhatIsWrong) {
  std::vector<std::byte> bytes = bytes_of(sample());
  bytes[0] = std::byte{0};
  EXPECT_NE(decode_spec(bytes).status().message().find("magic"), std::string::npos);
  bytes = bytes_of(sample());
  bytes[4] = std::byte{9};
  EXPECT_NE(decode_spec(bytes).status().message().find("version"), std::string::npos);
  bytes = bytes_of(sample());
  bytes[8] = std::byte{2};
  EXPECT_NE(decode_spec(bytes).status().message().find("model"), std::string::npos);
}

}  // namespace
}  // namespace kvtier
