// Prefixes that branch while something happens to them. A block is a node of its own, so that a branch splits
// nothing.

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Prefix : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    client_ = &add_client();
    space_ = usual_space(*client_);
    other_ = &add_client();
    (void)usual_space(*other_);
  }
  void flood(SimClient& writer) {
    for (int i = 0; i < 200; ++i) put(writer, space_, keys_of(next_chain_++, 1));
  }
  std::vector<Reservation> branch(std::uint64_t chain, std::size_t count, const Key& parent) {
    return reserve(*other_, space_, keys_of(chain, count), false, parent);
  }
  void expect_all_exact(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      std::optional<SimLease> lease = client_->acquire(space_, key);
      ASSERT_TRUE(lease.has_value());
      expect_exact(*lease);
      SimClient::release(*lease);
    }
  }

  SimClient* client_ = nullptr;
  SimClient* other_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  std::uint64_t next_chain_ = 1000;
};

TEST_F(Prefix, L_11_a_branch_below_blocks_that_are_still_written) {
  const std::vector<Reservation> trunk = reserve(*client_, space_, keys_of(1, 8));
  const std::vector<Reservation> twig = branch(2, 4, pattern_key(1, 2));
  ASSERT_EQ(holds_of(twig).size(), 4U);
  commit(*other_, twig);
  EXPECT_EQ(other_->match(space_, pattern_key(2, 3)), 1);
  flood(*other_);
  commit(*client_, trunk);
  expect_all_exact(keys_of(1, 8));
}

TEST_F(Prefix, L_11_two_branches_below_a_leased_prefix_and_a_flood) {
  put(*client_, space_, keys_of(1, 8));
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 8)) leases.push_back(*client_->acquire(space_, key));
  commit(*other_, branch(2, 4, pattern_key(1, 2)));
  commit(*other_, branch(3, 4, pattern_key(1, 1)));
  let_age();
  flood(*other_);
  for (SimLease& lease : leases) {
    expect_exact(lease);
    SimClient::release(lease);
  }
  expect_all_exact(keys_of(1, 8));
  let_age();
  flood(*client_);  // a writer evicts from the slabs lent to it
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 8)), 0U);
}

TEST_F(Prefix, L_11_a_branch_outlives_an_aborted_trunk) {
  const std::vector<Reservation> trunk = reserve(*client_, space_, keys_of(1, 4));
  commit(*other_, branch(2, 4, pattern_key(1, 3)));
  client_->abort(holds_of(trunk));
  settle();
  EXPECT_EQ(count_ready(*client_, space_, keys_of(2, 4)), 4U);
  expect_all_exact(keys_of(2, 4));
  put(*client_, space_, keys_of(1, 4));
  expect_all_exact(keys_of(1, 4));
}

TEST_F(Prefix, L_11_children_leave_before_their_parents_on_every_branch) {
  put(*client_, space_, keys_of(1, 8));
  for (std::uint64_t chain = 2; chain < 6; ++chain) commit(*other_, branch(chain, 8, pattern_key(1, chain)));
  for (std::uint64_t chain = 1000; chain < 1060; ++chain) {
    put(*other_, space_, keys_of(chain, 1));
    for (std::uint64_t each = 1; each < 6; ++each) {
      std::size_t ready = 0;
      while (ready < 8 && client_->match(space_, pattern_key(each, ready)) == 1) ++ready;
      EXPECT_EQ(count_ready(*client_, space_, keys_of(each, 8)), ready) << "a hole in chain " << each;
      const bool has_parent = client_->match(space_, pattern_key(1, each)) == 1;
      EXPECT_TRUE(each == 1 || ready == 0 || has_parent) << "chain " << each << " without its parent";
    }
  }
}

}  // namespace
}  // namespace kvtier::test
