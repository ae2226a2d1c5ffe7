// kSums: sums of leased blocks, taken at once for who waits, and told to nobody else.

#include "tests/unit/flow/sums_fixture.h"

namespace kvtier::test {
namespace {

TEST_F(SumsTest, sums_that_are_there_are_told_at_once) {
  sum_all();
  const std::uint32_t request = ask(*client_, entries(), space_);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(client_->completion(request).count, 8U);
  expect_right(answer(*client_, 8));
}

TEST_F(SumsTest, a_block_that_waits_for_its_sum_gets_it_at_once_and_the_answer_waits) {
  put(*client_, space_, keys_of(2, 4));
  EXPECT_EQ(sum_due(), 0U) << "nobody asked, and a second is not over";
  const std::uint32_t request = ask(*client_, entries(), space_);
  EXPECT_FALSE(client_->is_answered(request));
  EXPECT_EQ(store_->next_deadline(), 0U) << "the background agent is to be given work";
  EXPECT_EQ(sum_due(), 8U) << "those, and no others";
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 8U);
  expect_right(answer(*client_, 8));
  EXPECT_EQ(stats().waits_open, 0U);
}

TEST_F(SumsTest, the_deadline_answers_with_those_that_are_there) {
  sum_all();
  put(*client_, space_, keys_of(2, 1));
  std::vector<SumEntry> asked = entries();
  asked.push_back(entry_of(*client_, space_, keys_of(2, 1)[0]));
  const std::uint32_t request = ask(*client_, asked, space_, 0, clock_.now_ns() + kNsPerMs);
  EXPECT_FALSE(client_->is_answered(request));
  advance(kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kDeadline);
  EXPECT_EQ(client_->completion(request).count, 8U);
  EXPECT_EQ(answer(*client_, 9)[8].code, Code::kPending);
  EXPECT_EQ(answer(*client_, 9)[8].sum, 0U);
  (void)sum_due();  // SimClient fails on a second answer
}

TEST_F(SumsTest, a_cancel_and_the_end_of_the_process_end_it) {
  const std::uint32_t request = ask(*client_, entries(), space_);
  (void)client_->simple(Op::kCancel, space_, {}, request);
  deliver();
  EXPECT_EQ(client_->completion(request).code, Code::kDeadline);
  SimClient& other = add_client();
  (void)usual_space(other);
  const std::uint32_t open = ask(other, entries(), space_);
  EXPECT_FALSE(other.is_answered(open));
  end_process(other);
  EXPECT_EQ(stats().waits_open, 0U);
  (void)sum_due();
}

TEST_F(SumsTest, a_block_that_leaves_meanwhile_is_none) {
  const std::uint32_t request = ask(*client_, entries(), space_);
  (void)call(*client_, Op::kInvalidate, space_, {});
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).count, 0U);
  for (const SumEntry& each : answer(*client_, 8)) EXPECT_EQ(each.code, Code::kNotFound);
}

TEST_F(SumsTest, places_that_are_no_blocks_are_not_found) {
  sum_all();
  const SumEntry good = entries()[0];
  std::vector<SumEntry> asked(8, good);
  asked[0].generation += 1;
  asked[1].generation = 0;
  asked[2].slot = SlotRef::of(SlotRef::kSlabsMax - 1, 0);
  asked[3].slot = SlotRef::of(good.slot.slab(), SlotRef::kSlotsMax - 1);
  asked[4].slot = SlotRef::of(15, 0);  // a slab of nobody
  asked[5].slot.bits = ~0U;
  asked[6].generation = ~0ULL;
  const std::uint32_t request = ask(*client_, asked, space_);
  EXPECT_EQ(client_->completion(request).count, 1U);
  const std::vector<SumEntry> answered = answer(*client_, 8);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(answered[i].code, Code::kNotFound) << i;
    EXPECT_EQ(answered[i].sum, 0U) << i;
  }
  EXPECT_EQ(answered[7].code, Code::kOk);
  EXPECT_EQ(client_->completion(ask(*client_, asked, SpaceId{2})).count, 0U) << "of another space";
}

TEST_F(SumsTest, nothing_is_told_or_summed_or_doubted_for_another_namespace) {
  sum_all();
  put(*client_, space_, keys_of(2, 1));
  SimClient& stranger = add_client("theirs");
  (void)usual_space(stranger);
  std::vector<SumEntry> asked = entries();
  asked.push_back(entry_of(*client_, space_, keys_of(2, 1)[0]));
  for (const std::uint16_t flags : {std::uint16_t{0}, kFlagDoubt}) {
    const std::uint32_t request = ask(stranger, asked, space_, flags);
    ASSERT_TRUE(stranger.is_answered(request)) << "nothing is waited for";
    EXPECT_EQ(stranger.completion(request).count, 0U);
    for (const SumEntry& each : answer(stranger, 9)) {
      EXPECT_EQ(each.code, Code::kNotFound);
      EXPECT_EQ(each.sum, 0U);
    }
  }
  EXPECT_EQ(sum_due(), 0U);
  EXPECT_EQ(stats().blocks_doubted, 0U);
}

TEST_F(SumsTest, what_is_against_the_protocol_ends_the_session) {
  const std::vector<std::uint32_t> counts = {0, kRequestKeysMax + 1};
  for (const std::uint32_t count : counts) {
    SimClient& client = add_client();
    Submission submission{};
    submission.op = Op::kSums;
    submission.count = count;
    store_->submit(client.session(), submission);
    deliver();
    EXPECT_TRUE(client.is_ended()) << count;
  }
  SimClient& beyond = add_client();
  Submission submission{};
  submission.op = Op::kSums;
  submission.count = 2;
  submission.arena_offset = kArenaBytes - sizeof(SumEntry);
  store_->submit(beyond.session(), submission);
  deliver();
  EXPECT_TRUE(beyond.is_ended());
  SimClient& doubter = add_client();
  (void)ask(doubter, std::vector<SumEntry>(65), space_, kFlagDoubt);
  EXPECT_TRUE(doubter.is_ended());
  EXPECT_FALSE(client_->is_ended());
}

TEST_F(SumsTest, a_session_waits_for_a_bounded_number_and_for_one_doubt) {
  const std::vector<SumEntry> many(kRequestKeysMax, entries()[0]);
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_FALSE(client_->is_answered(ask(*client_, many, space_, 0, 0, i * many.size() * sizeof(SumEntry))));
  const std::uint32_t refused = ask(*client_, {many[0]}, space_, 0, 0, kArenaBytes - sizeof(SumEntry));
  EXPECT_EQ(client_->completion(refused).code, Code::kBusy);
  EXPECT_EQ(sum_due(), 1U);
  EXPECT_EQ(stats().waits_open, 0U);
  EXPECT_FALSE(client_->is_answered(ask(*client_, {many[0]}, space_, kFlagDoubt)));
  EXPECT_EQ(client_->completion(ask(*client_, {many[0]}, space_, kFlagDoubt, 0, 64)).code, Code::kBusy);
  EXPECT_EQ(sum_due(), 1U);
  EXPECT_FALSE(client_->is_answered(ask(*client_, {many[0]}, space_, kFlagDoubt)));
  (void)sum_due();
}

}  // namespace
}  // namespace kvtier::test
