// Blocks of one meaning never answer for another.

#include "libkvclient/wire/spec.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

Spec base_spec() {
  Spec spec;
  spec.model = "m";
  spec.revision = "1";
  spec.tokenizer = "t";
  SpecPart part;
  part.name = "kv";
  part.bytes = kBlock;
  part.layer_count = 2;
  part.kv_heads = 8;
  part.head_dim = 64;
  part.dtype = "f16";
  part.layout = "plain";
  spec.parts.push_back(part);
  return spec;
}

std::vector<std::byte> encoded(const Spec& spec) {
  Result<std::vector<std::byte>> bytes = encode_spec(spec);
  EXPECT_TRUE(bytes.is_ok()) << bytes.status().to_string();
  return bytes.value();
}

class Identity : public StoreFixture {
 protected:
  void SetUp() override { make_store(64); }

  // What a client with `spec` finds of blocks that one with `base` put.
  void expect_apart(const Spec& base, const Spec& spec, const std::string& field) {
    SCOPED_TRACE(field);
    SimClient& writer = add_client();
    const SpaceId written = writer.register_space(encoded(base));
    const std::vector<Key> keys = keys_of(next_chain_++, 4);
    put(writer, written, keys);
    SimClient& reader = add_client();
    const SpaceId other = reader.register_space(encoded(spec));
    EXPECT_NE(other, written);
    EXPECT_EQ(count_ready(reader, other, keys), 0U);
    EXPECT_FALSE(reader.acquire(other, keys[0]).has_value());
    EXPECT_NE(spec_difference(base, spec).find(field), std::string::npos) << spec_difference(base, spec);
    const SpaceId same = reader.register_space(encoded(base));
    EXPECT_EQ(count_ready(reader, same, keys), 4U);
    for (const Key& key : keys) {
      std::optional<SimLease> lease = reader.acquire(same, key);
      ASSERT_TRUE(lease.has_value());
      expect_exact(*lease);
      SimClient::release(*lease);
    }
  }

  std::uint64_t next_chain_ = 1;
};

TEST_F(Identity, C_01_adapters_do_not_share) {
  Spec a = base_spec();
  a.adapter = "a@1";
  Spec b = a;
  b.adapter = "b@1";
  expect_apart(a, b, "adapter");
  expect_apart(a, base_spec(), "adapter");
}

TEST_F(Identity, C_02_dtype_heads_shards_and_revision_do_not_share) {
  const Spec base = base_spec();
  Spec dtype = base;
  dtype.parts[0].dtype = "i8";
  expect_apart(base, dtype, "dtype");
  Spec heads = base;
  heads.parts[0].kv_heads = 4;
  expect_apart(base, heads, "kv_heads");
  Spec shard = base;
  shard.shard =
      SpecShard{.kv_head_first = 0, .kv_head_count = 4, .max_tp = 2, .layer_first = 0, .layer_count = 2};
  expect_apart(base, shard, "shard");
  Spec revision = base;
  revision.revision = "2";
  expect_apart(base, revision, "revision");
}

TEST_F(Identity, C_02_a_read_of_the_wrong_size_is_impossible) {
  Spec large = base_spec();
  large.parts[0].bytes = 2 * kBlock;
  expect_apart(base_spec(), large, "bytes");
}

TEST_F(Identity, C_02_namespaces_do_not_share) {
  SimClient& writer = add_client("one");
  const SpaceId written = writer.register_space(encoded(base_spec()));
  put(writer, written, keys_of(1, 4));
  SimClient& reader = add_client("two");
  const SpaceId same = reader.register_space(encoded(base_spec()));
  EXPECT_EQ(count_ready(reader, same, keys_of(1, 4)), 0U);
}

TEST_F(Identity, C_18_a_new_revision_sees_nothing_of_the_old_one) {
  SimClient& client = add_client();
  const SpaceId one = client.register_space(encoded(base_spec()));
  put(client, one, keys_of(1, 4));
  Spec bumped = base_spec();
  bumped.revision = "2";
  const SpaceId two = client.register_space(encoded(bumped));
  EXPECT_EQ(count_ready(client, two, keys_of(1, 4)), 0U);
  EXPECT_EQ(call(client, Op::kInvalidate, one, {}).count, 4U);
  EXPECT_EQ(count_ready(client, one, keys_of(1, 4)), 0U);
  EXPECT_EQ(stats().blocks_ready, 0U);
}

TEST_F(Identity, C_18_a_store_begun_before_the_bump_never_appears) {
  SimClient& client = add_client();
  const SpaceId space = client.register_space(encoded(base_spec()));
  const std::vector<Reservation> begun = reserve(client, space, keys_of(1, 2));
  EXPECT_EQ(call(client, Op::kInvalidate, space, {}).count, 2U);
  EXPECT_EQ(client.match(space, pattern_key(1, 0)), 0);
  commit(client, begun);
  EXPECT_EQ(count_ready(client, space, keys_of(1, 2)), 0U);
  EXPECT_EQ(stats().slots_quarantined, 0U) << "the late commit gives the slots back";
  put(client, space, keys_of(1, 2));  // a new store of the same keys is one
  EXPECT_EQ(count_ready(client, space, keys_of(1, 2)), 2U);
}

TEST_F(Identity, C_18_leased_bytes_stay_until_released) {
  SimClient& client = add_client();
  const SpaceId space = client.register_space(encoded(base_spec()));
  put(client, space, keys_of(1, 1));
  std::optional<SimLease> lease = client.acquire(space, pattern_key(1, 0));
  ASSERT_TRUE(lease.has_value());
  (void)call(client, Op::kInvalidate, SpaceId::kNone, {});
  EXPECT_EQ(stats().blocks_draining, 1U);
  for (std::uint64_t chain = 100; chain < 300; ++chain) put(client, space, keys_of(chain, 1));
  expect_exact(*lease);
  SimClient::release(*lease);
  advance(kNsPerSecond);
  EXPECT_EQ(stats().blocks_draining, 0U);
}

}  // namespace
}  // namespace kvtier::test
