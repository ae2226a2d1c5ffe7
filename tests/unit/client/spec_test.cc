// Specs, spaces and keys through the C contract.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

std::string difference(const SpecChoice& a, const SpecChoice& b) {
  kvc_spec* left = make_spec(a);
  kvc_spec* right = make_spec(b);
  char text[256] = "?";
  EXPECT_EQ(kvc_spec_difference(left, right, text, sizeof text), KVC_OK);
  kvc_spec_destroy(left);
  kvc_spec_destroy(right);
  return text;
}

TEST(ClientSpec, C01_BlocksOfOneAdapterAreNeverServedToAnother) {
  FakeDaemon daemon;
  const TestClient a(daemon.path(), {.adapter = "A"});
  const TestClient b(daemon.path(), {.adapter = "B"});
  const TestClient none(daemon.path());
  a.put(keys_from(0, 4), 0xaa);
  EXPECT_EQ(b.ready(keys_from(0, 4)), 0U);
  EXPECT_EQ(none.ready(keys_from(0, 4)), 0U);
  const TestClient again(daemon.path(), {.adapter = "A"});
  ASSERT_EQ(again.acquire(keys_from(0, 4)), 4U);
  EXPECT_EQ(again.first_byte(3), 0xaa);
  kvc_release(again.lease);
}

TEST(ClientSpec, C02_AnotherMeaningIsAnotherSpaceAndNamesTheField) {
  FakeDaemon daemon;
  const TestClient half(daemon.path());
  half.put(keys_from(0, 2));
  for (const SpecChoice& other : {SpecChoice{.dtype = "i8"}, SpecChoice{.revision = "r2"},
                                  SpecChoice{.heads = 4}, SpecChoice{.bytes = 2048}}) {
    EXPECT_EQ(TestClient(daemon.path(), other).ready(keys_from(0, 2)), 0U);
  }
  EXPECT_EQ(difference({}, {.dtype = "i8"}), "parts[0].dtype: \"f16\" and \"i8\"");
  EXPECT_EQ(difference({}, {.revision = "r2"}), "revision: \"r1\" and \"r2\"");
  EXPECT_EQ(difference({}, {.heads = 4}), "parts[0].kv_heads: \"2\" and \"4\"");
  EXPECT_EQ(difference({}, {}), "");
}

TEST(ClientSpec, C09_TheLayoutMustBeSaidAndSeparates) {
  FakeDaemon daemon;
  const TestClient nhd(daemon.path());
  nhd.put(keys_from(0, 2));
  EXPECT_EQ(TestClient(daemon.path(), {.layout = "HND"}).ready(keys_from(0, 2)), 0U);
  kvc_spec* silent = make_spec({.layout = ""});
  EXPECT_EQ(kvc_spec_check(silent), KVC_INVALID);
  EXPECT_NE(std::string(kvc_last_error()).find("parts[0].layout"), std::string::npos);
  kvc_space* space = nullptr;
  EXPECT_EQ(kvc_space_register(nhd.client, silent, 0, &space), KVC_INVALID);
  kvc_spec_destroy(silent);
}

TEST(ClientSpec, FactsAndParts) {
  FakeDaemon daemon;
  const TestClient client(daemon.path(), {.bytes = 100});
  EXPECT_EQ(client.facts().block_bytes, 100U);
  EXPECT_EQ(client.facts().block_tokens, 16U);
  EXPECT_EQ(client.facts().is_registered, 1U);
  std::uint64_t offset = 9;
  std::uint64_t bytes = 9;
  EXPECT_EQ(kvc_space_part(client.space, 0, &offset, &bytes), KVC_OK);
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(bytes, 100U);
  EXPECT_EQ(kvc_space_part(client.space, 1, &offset, &bytes), KVC_INVALID);
}

TEST(ClientSpec, KeysFromTokens) {
  const TestClient client("/nowhere");
  std::vector<std::uint32_t> tokens(40);
  for (std::uint32_t i = 0; i < 40; ++i) tokens[i] = i;
  kvc_key keys[2];
  std::size_t count = 0;
  const auto make = [&](const void* salt, std::size_t bytes, std::size_t capacity) {
    return kvc_keys_from_tokens(client.space, tokens.data(), tokens.size(), salt, bytes, nullptr, keys,
                                capacity, &count);
  };
  ASSERT_EQ(make(nullptr, 0, 2), KVC_OK);
  EXPECT_EQ(count, 2U);
  const kvc_key plain = keys[1];
  EXPECT_EQ(make(nullptr, 0, 1), KVC_INVALID);
  ASSERT_EQ(make("a\0b", 3, 2), KVC_OK);
  const kvc_key with_nul = keys[1];
  ASSERT_EQ(make("a\0c", 3, 2), KVC_OK);
  EXPECT_NE(std::memcmp(&with_nul, &keys[1], 32), 0);
  EXPECT_NE(std::memcmp(&with_nul, &plain, 32), 0);
  const std::string longest(4096, 's');
  EXPECT_EQ(make(longest.data(), longest.size(), 2), KVC_OK);
  EXPECT_EQ(make((longest + "s").data(), longest.size() + 1, 2), KVC_INVALID);
  EXPECT_EQ(kvc_keys_from_tokens(client.space, nullptr, 0, nullptr, 0, nullptr, nullptr, 0, &count), KVC_OK);
  EXPECT_EQ(count, 0U);
}

TEST(ClientSpec, KeysContinueAChain) {
  const TestClient client("/nowhere");
  const std::vector<std::uint32_t> tokens(32, 5);
  kvc_key whole[2];
  kvc_key second[1];
  std::size_t count = 0;
  ASSERT_EQ(kvc_keys_from_tokens(client.space, tokens.data(), 32, nullptr, 0, nullptr, whole, 2, &count),
            KVC_OK);
  ASSERT_EQ(kvc_keys_from_tokens(client.space, tokens.data() + 16, 16, nullptr, 0, whole, second, 1, &count),
            KVC_OK);
  EXPECT_EQ(std::memcmp(&whole[1], &second[0], 32), 0);
}

TEST(ClientSpec, MapEntriesAreSaidOnce) {
  kvc_spec* spec = make_spec();
  EXPECT_EQ(kvc_spec_set_rope(spec, "theta", "10000"), KVC_OK);
  EXPECT_EQ(kvc_spec_set_rope(spec, "theta", "20000"), KVC_INVALID);
  EXPECT_EQ(kvc_spec_set_extra(spec, "", "x"), KVC_INVALID);
  std::size_t bytes = 0;
  EXPECT_EQ(kvc_spec_encode(spec, nullptr, 0, &bytes), KVC_NO_SPACE);
  std::vector<char> buffer(bytes);
  EXPECT_EQ(kvc_spec_encode(spec, buffer.data(), buffer.size(), &bytes), KVC_OK);
  kvc_spec_destroy(spec);
}

TEST(ClientAbout, WordsForEveryCode) {
  EXPECT_EQ(kvc_abi_version(), static_cast<std::uint32_t>(KVC_ABI_VERSION));
  EXPECT_STREQ(kvc_code_name(KVC_NO_SPACE), "no_space");
  EXPECT_STREQ(kvc_code_name(99), "unknown");
  EXPECT_STREQ(kvc_cause_name(KVC_CAUSE_PINNED_BY), "pinned_by");
  EXPECT_STREQ(kvc_cause_name(-1), "unknown");
}

}  // namespace
}  // namespace kvtier::test
