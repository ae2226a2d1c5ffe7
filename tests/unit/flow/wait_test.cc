// Waiting for blocks that another client computes: exactly one answer, whatever ends it.

#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class WaitTest : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    writer_ = &add_client();
    space_ = usual_space(*writer_);
    waiter_ = &add_client();
    (void)usual_space(*waiter_);
  }
  std::uint32_t begin_wait(const std::vector<Key>& keys, TimeNs deadline_ns = 0) {
    const std::uint32_t request = waiter_->simple(Op::kWait, space_, keys, 0, deadline_ns);
    settle();
    return request;
  }
  SimClient* writer_ = nullptr;
  SimClient* waiter_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(WaitTest, is_answered_when_the_last_block_is_committed) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 2));
  const std::uint32_t request = begin_wait(keys_of(1, 2));
  commit(*writer_, {open[0]});
  EXPECT_FALSE(waiter_->is_answered(request));
  commit(*writer_, {open[1]});
  ASSERT_TRUE(waiter_->is_answered(request));
  EXPECT_EQ(waiter_->completion(request).code, Code::kOk);
  EXPECT_EQ(waiter_->completion(request).count, 2U);
  EXPECT_EQ(stats().waits_open, 0U);
}

TEST_F(WaitTest, an_abort_answers_with_what_is_ready) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 2));
  const std::uint32_t request = begin_wait(keys_of(1, 2));
  commit(*writer_, {open[0]});
  writer_->abort({open[1].result.hold});
  deliver();
  ASSERT_TRUE(waiter_->is_answered(request));
  EXPECT_EQ(waiter_->completion(request).count, 1U);
}

TEST_F(WaitTest, the_same_key_twice_is_answered_once) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  const std::uint32_t request = begin_wait({pattern_key(1, 0), pattern_key(1, 0)});
  commit(*writer_, open);
  ASSERT_TRUE(waiter_->is_answered(request));
  EXPECT_EQ(waiter_->completion(request).count, 2U) << "keys, not blocks, are counted";
}

TEST_F(WaitTest, nothing_pending_is_answered_at_once) {
  put(*writer_, space_, keys_of(1, 1));
  const Completion answer = call(*waiter_, Op::kWait, space_, {pattern_key(1, 0), pattern_key(9, 9)});
  EXPECT_EQ(answer.code, Code::kOk);
  EXPECT_EQ(answer.count, 1U);
}

TEST_F(WaitTest, F_09_the_deadline_answers_and_the_commit_does_not_answer_again) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  const std::uint32_t request = begin_wait(keys_of(1, 1), clock_.now_ns() + kNsPerSecond);
  EXPECT_FALSE(waiter_->is_answered(request));
  EXPECT_LE(store_->next_deadline(), clock_.now_ns() + kNsPerSecond);
  advance(kNsPerSecond);
  ASSERT_TRUE(waiter_->is_answered(request));
  EXPECT_EQ(waiter_->completion(request).code, Code::kDeadline);
  commit(*writer_, open);  // SimClient fails on a second answer
  EXPECT_EQ(stats().waits_open, 0U);
}

TEST_F(WaitTest, F_09_a_deadline_in_the_past_is_answered_at_once) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  EXPECT_EQ(call(*waiter_, Op::kWait, space_, keys_of(1, 1), 0, 1).code, Code::kDeadline);
  writer_->abort(holds_of(open));
}

TEST_F(WaitTest, L_05_every_wait_has_one_end_whenever_it_is_cancelled) {
  Prng chance(7);
  const std::uint64_t slots_free = stats().slots_free;
  for (int i = 0; i < 200; ++i) {
    const std::vector<Key> keys = keys_of(static_cast<std::uint64_t>(i), 2);
    const std::vector<Reservation> open = reserve(*writer_, space_, keys);
    const std::uint32_t request = begin_wait(keys);
    if (chance.below(3) == 0) commit(*writer_, {open[0]});
    const bool is_early = chance.below(2) == 0;
    if (!is_early) writer_->abort(holds_of(open));
    const std::uint32_t cancel = waiter_->simple(Op::kCancel, space_, {}, request);
    settle();
    EXPECT_TRUE(waiter_->is_answered(request));
    EXPECT_FALSE(waiter_->is_answered(cancel)) << "a cancel has no answer of its own";
    if (is_early) writer_->abort(holds_of(open));
    settle();
  }
  EXPECT_EQ(stats().waits_open, 0U);
  EXPECT_EQ(stats().blocks_writing, 0U);
  EXPECT_GE(stats().slots_free + stats().blocks_ready, slots_free);
}

TEST_F(WaitTest, another_sessions_wait_cannot_be_cancelled) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  const std::uint32_t request = begin_wait(keys_of(1, 1));
  (void)writer_->simple(Op::kCancel, space_, {}, request);
  settle();
  EXPECT_FALSE(waiter_->is_answered(request));
  commit(*writer_, open);
  EXPECT_TRUE(waiter_->is_answered(request));
}

TEST_F(WaitTest, C_18_an_invalidation_ends_the_wait) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  const std::uint32_t request = begin_wait(keys_of(1, 1));
  (void)call(*writer_, Op::kInvalidate, space_, {});
  ASSERT_TRUE(waiter_->is_answered(request));
  EXPECT_EQ(waiter_->completion(request).count, 0U);
  commit(*writer_, open);
}

TEST_F(WaitTest, a_dead_waiter_is_forgotten) {
  const std::vector<Reservation> open = reserve(*writer_, space_, keys_of(1, 1));
  (void)begin_wait(keys_of(1, 1));
  end_process(*waiter_);
  EXPECT_EQ(stats().waits_open, 0U);
  commit(*writer_, open);
}

// A session's open waits together concern a bounded number of blocks.
class WaitLimits : public StoreFixture {
 protected:
  static constexpr std::uint32_t kWaitsMax = (1U << 17) / kRequestKeysMax;
};

TEST_F(WaitLimits, too_many_blocks_are_busy_until_other_waits_end) {
  StoreOptions options;
  options.slab_bytes = 256 * kBlock;
  make_store(kRequestKeysMax, options);
  SimClient& writer = add_client();
  const SpaceId space = usual_space(writer);
  SimClient& waiter = add_client();
  (void)usual_space(waiter);
  const std::vector<Key> keys = keys_of(1, kRequestKeysMax);
  const std::vector<Reservation> open = reserve(writer, space, keys, true);
  std::vector<std::uint32_t> waits;
  for (std::uint32_t i = 0; i < kWaitsMax; ++i) waits.push_back(waiter.simple(Op::kWait, space, keys));
  settle();
  EXPECT_EQ(stats().waits_open, kWaitsMax);
  EXPECT_EQ(call(waiter, Op::kWait, space, keys).code, Code::kBusy);
  const std::uint32_t others = writer.simple(Op::kWait, space, keys);
  (void)waiter.simple(Op::kCancel, space, {}, waits.back());
  settle();
  EXPECT_EQ(waiter.completion(waits.back()).code, Code::kDeadline);
  waits.back() = waiter.simple(Op::kWait, space, keys);
  commit(writer, open);
  for (const std::uint32_t wait : waits) EXPECT_EQ(waiter.completion(wait).count, kRequestKeysMax);
  EXPECT_EQ(writer.completion(others).count, kRequestKeysMax) << "another session has its own account";
  EXPECT_EQ(call(waiter, Op::kWait, space, keys).code, Code::kOk);
}

}  // namespace
}  // namespace kvtier::test
