// What access logs tell is followed in bounded pieces, whatever the records say. Work is counted, not timed.

#include "daemon/flow/access.h"
#include "daemon/flow/admin.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kLong = kAccessStepsMax + kAccessStepsMax / 2;
static_assert(kLong <= kRequestKeysMax);

class Access : public StoreFixture {
 protected:
  Access() {
    make_store(2 * kLong, {.slab_bytes = 1024 * kBlock});
    client_ = &add_client();
    space_ = usual_space(*client_);
    put_chain(*client_, space_, keys_of(1, kLong));
    settle();
  }
  void read_all(SimClient& client) { client.log_access(space_, pattern_key(1, kLong - 1), 65535); }
  std::uint64_t hits_of_a_turn() {
    const std::uint64_t before = stats().hits_host;
    deliver();
    (void)store_->do_work();
    return stats().hits_host - before;
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Access, many_runs_that_are_longer_than_a_turn_take_many_turns) {
  constexpr std::uint64_t kReads = 40;  // more than one batch of the log
  for (std::uint64_t i = 0; i < kReads; ++i) read_all(*client_);
  std::uint64_t hits = 0;
  while (hits < kReads * kLong) {
    const std::uint64_t some = hits_of_a_turn();
    ASSERT_LE(some, kAccessStepsMax);
    ASSERT_GT(some, 0U);
    hits += some;
  }
  EXPECT_EQ(hits_of_a_turn(), 0U);
  EXPECT_EQ(stats().access_records, kReads);
}

TEST_F(Access, the_bound_is_one_for_all_clients_and_each_has_its_turn) {
  SimClient& other = add_client("other");
  const SpaceId space = usual_space(other);
  put(other, space, keys_of(2, 8));
  SimClient& third = add_client();
  (void)usual_space(third);
  settle();
  for (int i = 0; i < 100; ++i) read_all(*client_);
  third.log_access(space_, pattern_key(1, 2), 3);
  other.log_access(space, pattern_key(2, 7), 8);
  EXPECT_EQ(hits_of_a_turn(), kAccessStepsMax);
  EXPECT_EQ(hits_of_a_turn(), kAccessStepsMax);
  EXPECT_EQ(hits_of_a_turn(), kAccessStepsMax);
  EXPECT_EQ(stats().access_records, 32U + 2U) << "theirs did not wait for a hundred long ones";
}

TEST_F(Access, passes_of_a_turn_share_one_bound_too) {
  put_chain(*client_, space_, keys_of(3, kLong));  // the tier is full
  settle();
  for (int i = 0; i < 10; ++i) read_all(*client_);
  const std::uint64_t before = stats().hits_host;
  for (std::uint64_t chain = 100; chain < 110; ++chain) (void)client_->reserve(space_, keys_of(chain, 1), {});
  EXPECT_EQ(stats().evictions, 10U);
  EXPECT_EQ(stats().hits_host - before, kAccessStepsMax);
}

TEST_F(Access, a_run_in_pieces_leaves_its_head_hottest) {
  put_chain(*client_, space_, keys_of(2, kLong));  // the tier is full
  advance(kRecencyGrainMs * kNsPerMs);
  client_->log_access(space_, pattern_key(2, kLong - 1), 65535);
  settle();
  advance(kRecencyGrainMs * kNsPerMs);
  read_all(*client_);
  settle();
  const std::uint64_t scanned = stats().evict_scanned;
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(9, 64), true)).size(), 64U);
  EXPECT_EQ(stats().evict_scanned - scanned, 64U) << "nothing was passed over";
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, kLong)), kLong);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(2, kLong - 64)), kLong - 64);
}

TEST_F(Access, what_left_between_two_pieces_is_not_taken_for_what_came_in_its_place) {
  read_all(*client_);
  EXPECT_EQ(hits_of_a_turn(), kAccessStepsMax);
  for (std::optional<EvictCursor> from = EvictCursor{}; from.has_value();)
    from = store_->admin().evict({}, *from, 1U << 20).next;
  const std::uint32_t others = client_->reserve(space_, keys_of(2, kLong), {});
  deliver();
  commit(*client_, client_->reserved(others));
  EXPECT_EQ(hits_of_a_turn(), 0U) << "the rest of the run has no block any more";
}

}  // namespace
}  // namespace kvtier::test
