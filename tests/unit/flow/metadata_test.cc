// What is spent beside the payload: index, directory, tree and slot tables a block, at sizes of the pool where the
// tables, which grow by powers of two, are fuller and emptier. Below 4,096 blocks their smallest size counts.

#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Metadata : public StoreFixture, public ::testing::WithParamInterface<std::uint64_t> {};

TEST_P(Metadata, AFullPoolCostsAtMost256BytesABlock) {
  StoreOptions options;
  options.slab_bytes = 1024 * kBlock;
  make_store(GetParam(), options);
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  std::uint64_t chain = 0;
  for (; stats().slots_free > 0 || stats().slabs_assigned < stats().slabs_total; ++chain) {
    put(client, space, keys_of(chain, 256));
    ASSERT_EQ(stats().evictions, 0U);
  }
  EXPECT_EQ(stats().blocks_ready, GetParam());
  EXPECT_LE(stats().metadata_bytes, 256 * GetParam());
}

INSTANTIATE_TEST_SUITE_P(Pools, Metadata, ::testing::Values(5120, 6144, 8192, 14336, 16384));

}  // namespace
}  // namespace kvtier::test
