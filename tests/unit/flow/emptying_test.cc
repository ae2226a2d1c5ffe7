// A slab that is cut anew or leaves its namespace is emptied in bounded steps; in between every verb is answered
// and nobody gets slots of it.

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlabSlots = 1024;
constexpr std::uint64_t kSlabs = 5;
constexpr std::uint64_t kStepEvictionsMax = 256;

class EmptyingTest : public StoreFixture {
 protected:
  EmptyingTest() {
    make_store(kSlabs * kSlabSlots, {.slab_bytes = kSlabSlots * kBlock});
    client_ = &add_client();
    small_ = usual_space(*client_);
    // Longest prefixes of a few blocks: a leased one keeps its own chain, not the whole tier.
    for (std::uint64_t chain = 0; chain < kSlabs * kSlabSlots / 64; ++chain)
      put(*client_, small_, keys_of(chain, 64));
    clock_.advance(10 * kNsPerSecond);
    wanting_ = &add_client();
    large_ = wanting_->register_space(encoded_spec("large", 4 * kBlock));
  }

  std::optional<Emptying>& job() { return store_->state().emptying; }

  /// Begins to empty a slab for the large blocks.
  std::uint32_t want_one() {
    const std::uint32_t request = wanting_->reserve(large_, keys_of(9000, 1), Key{});
    deliver();
    EXPECT_TRUE(job().has_value());
    return request;
  }
  Code code_of(const std::uint32_t request) { return wanting_->completion(request).code; }

  SimClient* client_ = nullptr;
  SimClient* wanting_ = nullptr;
  SpaceId small_ = SpaceId::kNone;
  SpaceId large_ = SpaceId::kNone;
};

TEST_F(EmptyingTest, steps_are_bounded_and_others_are_served_in_between) {
  const std::uint32_t request = want_one();
  ASSERT_FALSE(wanting_->is_answered(request));
  const SlabIndex slab = job()->slab;
  const Key hot = pattern_key(kSlabs * kSlabSlots / 64 - 1, 0);
  std::uint64_t steps = 0;
  while (job().has_value() && !job()->is_done) {
    const std::uint64_t before = stats().evictions;
    (void)store_->do_work();
    EXPECT_LE(stats().evictions - before, kStepEvictionsMax);
    ++steps;
    std::optional<SimLease> lease = client_->acquire(small_, hot);
    ASSERT_TRUE(lease.has_value());
    expect_exact(*lease);
    SimClient::release(*lease);
    const std::uint32_t theirs = client_->reserve(small_, keys_of(500 + steps, 4), Key{});
    deliver();
    const std::vector<Reservation> granted = client_->reserved(theirs);
    EXPECT_EQ(holds_of(granted).size(), 4U);
    for (const Reservation& each : granted) EXPECT_NE(each.result.slot.slab(), index_of(slab));
    commit(*client_, granted);
  }
  EXPECT_GE(steps, kSlabSlots / kStepEvictionsMax);
  settle();
  ASSERT_TRUE(wanting_->is_answered(request));
  EXPECT_EQ(code_of(request), Code::kOk);
  EXPECT_EQ(stats().slabs_emptied, 1U);
  EXPECT_EQ(stats().slab_reshapes, 1U);
  const std::vector<Reservation> granted = wanting_->reserved(request);
  ASSERT_EQ(holds_of(granted).size(), 1U);
  EXPECT_EQ(granted[0].result.slot.slab(), index_of(slab));
  commit(*wanting_, granted);
}

TEST_F(EmptyingTest, an_empty_slab_that_nobody_comes_for_is_used_as_before) {
  (void)want_one();
  while (job().has_value() && !job()->is_done) {
    const bool is_last = job()->evicted + kStepEvictionsMax >= kSlabSlots;
    if (is_last) store_->session_hang_up(wanting_->session());
    (void)store_->do_work();
  }
  settle();
  EXPECT_FALSE(job().has_value());
  EXPECT_EQ(stats().slabs_emptied, 1U);
  EXPECT_EQ(holds_of(reserve(*client_, small_, keys_of(600, kSlabSlots), true)).size(), kSlabSlots);
  EXPECT_EQ(stats().slab_reshapes, 0U);
}

TEST_F(EmptyingTest, leases_everywhere_end_it_and_the_answer_is_no_space) {
  std::vector<SimLease> leases;
  for (std::uint64_t chain = 0; chain < kSlabs * kSlabSlots / 64; ++chain)
    leases.push_back(*client_->acquire(small_, pattern_key(chain, 63)));
  const std::uint32_t request = wanting_->reserve(large_, keys_of(9000, 1), Key{});
  settle();
  advance(20 * kNsPerMs);
  ASSERT_TRUE(wanting_->is_answered(request));
  EXPECT_EQ(code_of(request), Code::kNoSpace);
  EXPECT_FALSE(job().has_value());
  EXPECT_EQ(stats().blocks_ready, kSlabs * kSlabSlots) << "a leased end keeps its whole chain";
  for (SimLease& lease : leases) SimClient::release(lease);
}

TEST_F(EmptyingTest, a_namespace_above_its_limit_shrinks_in_steps) {
  store_->namespace_limit("main", 2 * kSlabSlots * kBlock);
  std::uint64_t steps = 0;
  std::uint64_t before = stats().evictions;
  while (store_->do_work() > 0) {
    EXPECT_LE(stats().evictions - before, kStepEvictionsMax);
    before = stats().evictions;
    ++steps;
    EXPECT_TRUE(client_->match(small_, pattern_key(kSlabs * kSlabSlots / 64 - 1, 0)) == 1);
    deliver();  // and the answers to be unmapped
  }
  EXPECT_GE(steps, 3 * kSlabSlots / kStepEvictionsMax);
  EXPECT_EQ(stats().slab_retirements, 3U);
  EXPECT_EQ(store_->state().tenants[0].slab_bytes, 2 * kSlabSlots * kBlock);
}

}  // namespace
}  // namespace kvtier::test
