// Pins: kept for sure, with an expiry, within a budget.

#include "daemon/flow/pin.h"
#include "daemon/flow/admin.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class PinTest : public StoreFixture {
 protected:
  void SetUp() override { make_store(64); }
  void flood(SimClient& writer, SpaceId space, std::uint64_t chain, std::size_t blocks) {
    for (std::size_t i = 0; i < blocks; ++i) put(writer, space, keys_of(chain + i, 1));
  }
};

// Two clients of one space.
class TwoPinners : public PinTest {
 protected:
  void SetUp() override {
    PinTest::SetUp();
    first_ = &add_client();
    second_ = &add_client();
    space_ = usual_space(*first_);
    (void)usual_space(*second_);
  }

  SimClient* first_ = nullptr;
  SimClient* second_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(PinTest, F_01_a_pinned_prefix_survives_a_flood_until_it_expires) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  const std::vector<Key> prompt = keys_of(1, 8);
  put(client, space, prompt);
  EXPECT_EQ(call(client, Op::kPin, space, prompt, 5 * kNsPerSecond).count, 8U);
  EXPECT_EQ(stats().blocks_pinned, 8U);
  flood(client, space, 1000, 5 * 64);
  EXPECT_EQ(count_ready(client, space, prompt), 8U);
  advance(5 * kNsPerSecond + 1);
  EXPECT_EQ(stats().blocks_pinned, 0U);
  let_age();
  flood(client, space, 2000, 5 * 64);
  EXPECT_EQ(count_ready(client, space, prompt), 0U);
}

TEST_F(PinTest, F_01_a_second_pin_replaces_the_expiry) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  const std::vector<Key> prompt = keys_of(1, 2);
  put(client, space, prompt);
  (void)call(client, Op::kPin, space, prompt, 5 * kNsPerSecond);
  advance(4 * kNsPerSecond);
  (void)call(client, Op::kPin, space, prompt, 5 * kNsPerSecond);
  advance(4 * kNsPerSecond);
  EXPECT_EQ(stats().blocks_pinned, 2U);
  advance(kNsPerSecond + 1);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

// A pin is a promise to the one who asked for it: nobody else shortens it, or takes it back.
TEST_F(TwoPinners, F_01_another_clients_shorter_pin_leaves_the_longer_one) {
  put(*first_, space_, keys_of(1, 2));
  (void)call(*first_, Op::kPin, space_, keys_of(1, 2), 60 * kNsPerSecond);
  EXPECT_EQ(call(*second_, Op::kPin, space_, keys_of(1, 2), kNsPerMs).count, 2U);
  advance(2 * kNsPerMs);
  EXPECT_EQ(stats().blocks_pinned, 2U);
  EXPECT_EQ(call(*second_, Op::kUnpin, space_, keys_of(1, 2)).count, 0U) << "its own is over";
  EXPECT_EQ(stats().blocks_pinned, 2U);
  EXPECT_EQ(call(*first_, Op::kUnpin, space_, keys_of(1, 2)).count, 2U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(TwoPinners, F_01_the_shorter_of_two_clients_pins_stays_when_the_longer_one_is_taken_back) {
  put(*first_, space_, keys_of(1, 2));
  (void)call(*first_, Op::kPin, space_, keys_of(1, 2), 5 * kNsPerSecond);
  (void)call(*second_, Op::kPin, space_, keys_of(1, 2), 60 * kNsPerSecond);
  EXPECT_EQ(call(*second_, Op::kUnpin, space_, keys_of(1, 2)).count, 2U);
  EXPECT_EQ(stats().blocks_pinned, 2U);
  advance(4 * kNsPerSecond);
  EXPECT_EQ(stats().blocks_pinned, 2U);
  advance(kNsPerSecond + 1);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(TwoPinners, F_01_of_three_clients_pins_the_two_that_last_longest_are_kept) {
  SimClient& third = add_client();
  (void)usual_space(third);
  put(*first_, space_, keys_of(1, 1));
  (void)call(*first_, Op::kPin, space_, keys_of(1, 1), 20 * kNsPerSecond);
  (void)call(*second_, Op::kPin, space_, keys_of(1, 1), 10 * kNsPerSecond);
  (void)call(third, Op::kPin, space_, keys_of(1, 1), 30 * kNsPerSecond);
  (void)call(third, Op::kPin, space_, keys_of(1, 1), 5 * kNsPerSecond);  // its own it may shorten
  EXPECT_EQ(call(*second_, Op::kUnpin, space_, keys_of(1, 1)).count, 0U);
  advance(5 * kNsPerSecond + 1);
  EXPECT_EQ(call(third, Op::kUnpin, space_, keys_of(1, 1)).count, 0U);
  EXPECT_EQ(stats().blocks_pinned, 1U);
  EXPECT_EQ(call(*first_, Op::kUnpin, space_, keys_of(1, 1)).count, 1U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(TwoPinners, F_01_pins_of_a_client_that_closed_can_be_taken_back_by_anybody) {
  put(*first_, space_, keys_of(1, 2));
  (void)call(*first_, Op::kPin, space_, keys_of(1, 2), 60 * kNsPerSecond);
  end_process(*first_);
  (void)call(*second_, Op::kPin, space_, keys_of(1, 2), kNsPerMs);
  advance(2 * kNsPerMs);
  EXPECT_EQ(stats().blocks_pinned, 2U) << "not shortened";
  EXPECT_EQ(call(*second_, Op::kUnpin, space_, keys_of(1, 2)).count, 2U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(PinTest, F_01_who_is_refused_for_pins_is_told_whose_they_are_also_when_it_closed) {
  SimClient& holder = add_client("main", 4711);
  SimClient& other = add_client("main", 4712);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(holder);
  (void)usual_space(other);
  (void)usual_space(writer);
  for (std::uint64_t chain = 0; chain < 64; ++chain) put(writer, space, keys_of(chain, 1));
  for (std::uint64_t chain = 0; chain < 30; ++chain)
    (void)call(holder, Op::kPin, space, keys_of(chain, 1), 60 * kNsPerSecond);
  for (std::uint64_t chain = 30; chain < 50; ++chain)
    (void)call(other, Op::kPin, space, keys_of(chain, 1), 60 * kNsPerSecond);
  end_process(other);
  (void)reserve(writer, space, keys_of(1000, 40), true);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  end_process(holder);
  (void)reserve(writer, space, keys_of(1000, 40), true);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  for (std::uint64_t chain = 0; chain < 15; ++chain) (void)call(writer, Op::kUnpin, space, keys_of(chain, 1));
  (void)reserve(writer, space, keys_of(1000, 40), true);
  EXPECT_EQ(last_completion_.detail, 4712U) << "now that one has most";
}

TEST_F(PinTest, F_01_unpin_and_missing_keys) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 2));
  EXPECT_EQ(call(client, Op::kPin, space, keys_of(1, 4), kNsPerSecond).count, 2U);
  EXPECT_EQ(call(client, Op::kUnpin, space, keys_of(1, 4)).count, 2U);
  EXPECT_EQ(call(client, Op::kUnpin, space, keys_of(1, 4)).count, 0U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(PinTest, F_01_a_time_of_zero_or_beyond_a_day_is_refused) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 1));
  EXPECT_EQ(call(client, Op::kPin, space, keys_of(1, 1), 0).code, Code::kInvalid);
  EXPECT_EQ(call(client, Op::kPin, space, keys_of(1, 1), kPinTtlNsMax + 1).code, Code::kInvalid);
  EXPECT_EQ(stats().blocks_pinned, 0U);
}

TEST_F(PinTest, F_01_the_budget_ends_before_the_pool_does) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  for (std::uint64_t chain = 0; chain < 64; ++chain) put(client, space, keys_of(chain, 1));
  std::uint64_t pinned = 0;
  for (std::uint64_t chain = 0; chain < 64; ++chain) {
    pinned += call(client, Op::kPin, space, keys_of(chain, 1), kNsPerSecond).code == Code::kOk ? 1 : 0;
  }
  EXPECT_EQ(pinned, stats().blocks_pinned);
  EXPECT_LE(pinned, 64U * 80 / 100);
  EXPECT_GT(pinned, 64U * 75 / 100);
  put(client, space, keys_of(5000, 4));  // there is still room to work in
}

TEST_F(PinTest, F_01_pins_of_an_invalidated_block_end_with_it) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 4));
  (void)call(client, Op::kPin, space, keys_of(1, 4), kNsPerSecond);
  EXPECT_EQ(call(client, Op::kInvalidate, space, {}).count, 4U);
  EXPECT_EQ(stats().blocks_pinned, 0U);
  advance(2 * kNsPerSecond);
}

// Who looks for the memory finds it, also after the one who pinned it has gone.
TEST_F(PinTest, F_01_pins_are_seen_in_every_list) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put(client, space, keys_of(1, 8));
  ASSERT_EQ(call(client, Op::kPin, space, keys_of(1, 6), 5 * kNsPerSecond).count, 6U);
  const auto seen = [&](const std::string& state) {
    std::uint64_t blocks = 0;
    for (const ClientView& view : store_->admin().clients()) {
      if (view.state != state) continue;
      blocks += view.pinned_blocks;
      EXPECT_EQ(view.pinned_bytes, view.pinned_blocks * kBlock);
    }
    return blocks;
  };
  EXPECT_EQ(seen("attached"), 6U);
  EXPECT_EQ(seen("closed"), 0U);
  const TreePage tree = store_->admin().tree({"main", space}, {}, 10);
  ASSERT_EQ(tree.rows.size(), 1U);
  EXPECT_EQ(tree.rows[0].pinned, 6U);
  end_process(client);
  EXPECT_EQ(seen("attached"), 0U);
  EXPECT_EQ(seen("closed"), 6U);
  const NamespaceView view = store_->admin().namespaces().at(0);
  EXPECT_EQ(view.pinned_bytes, 6 * kBlock);
  EXPECT_EQ(view.used_bytes, 8 * kBlock);
  advance(5 * kNsPerSecond + 1);
  EXPECT_EQ(seen("closed"), 0U);
}

TEST_F(PinTest, F_01_many_pins_that_end_together_end_in_bounded_pieces_and_cost_the_others_nothing) {
  constexpr std::size_t kShort = 2500;
  constexpr std::size_t kBlocks = kShort + 500;
  make_store(4 * 1024, {.slab_bytes = 1024 * kBlock});
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  put_chain(client, space, keys_of(1, kBlocks));
  ASSERT_EQ(call(client, Op::kPin, space, keys_of(1, kShort), kNsPerSecond).count, kShort);
  ASSERT_EQ(call(client, Op::kPin, space, keys_of(1, 500, kShort), 60 * kNsPerSecond).count, 500U);
  clock_.advance(kNsPerSecond + 1);
  EXPECT_LE(pins_next_expiry(store_->state()), clock_.now_ns());
  for (const std::size_t left : {kBlocks - 1024, kBlocks - 2048, kBlocks - kShort}) {
    (void)store_->do_work();
    EXPECT_EQ(stats().blocks_pinned, left);
  }
  EXPECT_GT(pins_next_expiry(store_->state()), clock_.now_ns());
}

// The budget is a running count: every way in which a pin ends gives it back.
TEST_F(PinTest, F_01_the_whole_budget_can_be_used_again_however_pins_end) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  const std::vector<Key> keys = keys_of(1, 60);
  put(client, space, keys);
  const std::size_t budget = call(client, Op::kPin, space, keys, kNsPerSecond).count;
  ASSERT_EQ(budget, 51U) << "80 % of 64";
  const auto use_again = [&](std::uint64_t chain) {
    if (chain != 1) put(client, space, keys_of(chain, 60));
    EXPECT_EQ(stats().blocks_pinned, 0U);
    EXPECT_EQ(call(client, Op::kPin, space, keys_of(chain, 60), kNsPerSecond).count, budget);
    EXPECT_EQ(call(client, Op::kPin, space, keys_of(chain, 60), kNsPerSecond).code, Code::kNoSpace);
  };
  advance(kNsPerSecond + 1);
  use_again(1);
  EXPECT_EQ(call(client, Op::kUnpin, space, keys).count, budget);
  use_again(1);
  EXPECT_EQ(call(client, Op::kInvalidate, space, {}).count, 60U);
  use_again(2);
}

}  // namespace
}  // namespace kvtier::test
