// host_bytes_max of a namespace in use: more counts at once, less as its slabs become free.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlab = 4 * kBlock;

class Quota : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    client_ = &add_client("team");
    space_ = usual_space(*client_);
    limit(4 * kSlab);
  }
  void limit(std::uint64_t bytes) { store_->namespace_limit("team", bytes); }
  NamespaceView team() {
    for (NamespaceView& view : store_->admin().namespaces())
      if (view.name == "team") return view;
    return {};
  }
  void fill_up(std::uint64_t chain, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) put(*client_, space_, keys_of(chain + i, 1));
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Quota, more_counts_from_the_next_reservation_on) {
  ASSERT_EQ(holds_of(reserve(*client_, space_, keys_of(1, 20))).size(), 16U);
  EXPECT_EQ(last_completion_.cause, Cause::kQuota);
  limit(8 * kSlab);
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(2, 20))).size(), 16U);
  limit(0);
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(3, 32), true)).size(), 32U);
  EXPECT_EQ(team().bytes_max, 0U);
}

TEST_F(Quota, under_a_smaller_one_the_coldest_blocks_leave_and_the_memory_is_anyones) {
  fill_up(100, 16);
  limit(1 * kSlab);
  settle();
  EXPECT_EQ(team().bytes, kSlab);
  EXPECT_EQ(team().bytes_max, kSlab);
  EXPECT_EQ(stats().blocks_ready, 4U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(115, 1)), 1U) << "the newest stayed";
  EXPECT_EQ(stats().slabs_assigned, 1U);
  fill_up(200, 8);
  EXPECT_EQ(team().bytes, kSlab) << "it does not grow again";
  SimClient& other = add_client("other");
  EXPECT_EQ(holds_of(reserve(other, usual_space(other), keys_of(1, 60), true)).size(), 60U);
}

TEST_F(Quota, unused_slabs_leave_first) {
  fill_up(100, 16);
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).code, Code::kOk);
  fill_up(200, 2);
  limit(1 * kSlab);
  settle();
  EXPECT_EQ(team().bytes, kSlab);
  EXPECT_EQ(stats().blocks_ready, 2U);
}

TEST_F(Quota, a_leased_block_keeps_its_slab_until_it_is_released) {
  fill_up(100, 16);
  std::vector<SimLease> leases;
  for (std::uint64_t chain = 100; chain < 116; ++chain)
    leases.push_back(*client_->acquire(space_, pattern_key(chain, 0)));
  limit(1 * kSlab);
  advance(10 * kNsPerSecond);
  EXPECT_EQ(team().bytes, 4 * kSlab);
  for (SimLease& lease : leases) {
    expect_exact(lease);
    SimClient::release(lease);
  }
  EXPECT_LE(store_->next_deadline(), clock_.now_ns() + 2 * kNsPerSecond)
      << "nobody tells of a release: it looks again";
  for (int i = 0; i < 4; ++i) advance(2 * kNsPerSecond);
  EXPECT_EQ(team().bytes, kSlab);
  EXPECT_EQ(store_->state().quota_at_ns, kNever) << "and not for ever";
}

TEST_F(Quota, what_is_being_written_is_finished_first) {
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(1, 16));
  limit(1 * kSlab);
  settle();
  EXPECT_EQ(team().bytes, 4 * kSlab);
  commit(*client_, open);
  EXPECT_EQ(stats().blocks_ready, 16U);
  for (int i = 0; i < 4; ++i) advance(2 * kNsPerSecond);
  EXPECT_EQ(team().bytes, kSlab);
}

TEST_F(Quota, a_limit_below_one_slab_leaves_nothing) {
  fill_up(100, 4);
  limit(1);
  settle();
  EXPECT_EQ(team().bytes, 0U);
  (void)reserve(*client_, space_, keys_of(1, 1));
  EXPECT_EQ(last_completion_.cause, Cause::kQuota);
}

}  // namespace
}  // namespace kvtier::test
