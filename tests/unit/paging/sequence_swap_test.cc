// Sequences that are swapped out and in, and computed again where the cache has lost them.

#include "tests/unit/paging/sequence_fixture.h"

namespace kvtier::test {
namespace {

TEST_F(SequenceTest, SwappedOutItHoldsNothingAndComesBackWhole) {
  Sequence sequence(slots_);
  Tokens tokens = tokens_from(0, 10);
  start(sequence, tokens);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_EQ(sequence.saved_bytes(), kBlock * kTokenBytes) << "the last block";
  EXPECT_EQ(sequence.blocks_count(), 3U);
  expect_counts(0, 0, 2);
  ASSERT_EQ(sequence.swap_in().code, KVC_OK);
  expect_counts(2, 1, 0);
  expect_right(sequence, tokens);
  append_and_write(sequence, tokens, 3);
  append_and_write(sequence, tokens, 4);
  expect_right(sequence, tokens);
}

TEST_F(SequenceTest, SwapInNamesWhatHasLeftAndTakesNothing) {
  Sequence first(slots_);
  const Tokens tokens = tokens_from(0, 18);
  start(first, tokens);
  ASSERT_EQ(first.swap_out().code, KVC_OK);
  Sequence second(slots_);
  start(second, tokens_from(100, 24));  // two of the four have to leave
  std::vector<std::size_t> missing;
  EXPECT_EQ(first.swap_in(&missing).code, KVC_NOT_FOUND);
  EXPECT_EQ(missing, (std::vector<std::size_t>{2, 3}));
  expect_counts(6, 0, 2);
  EXPECT_EQ(first.swap_in().code, KVC_NOT_FOUND);
  EXPECT_EQ(first.recompute().code, KVC_NO_SPACE);
  EXPECT_EQ(first.state(), Sequence::State::kSwappedOut);
  second.free();
  ASSERT_EQ(first.recompute().code, KVC_OK);
  EXPECT_EQ(first.written_count(), 8U) << "from the first block that is missing";
  write(first, tokens);
  expect_right(first, tokens);
}

TEST_F(SequenceTest, SwapInWithoutRoomForItsPrivateBlocksTakesNothing) {
  Sequence first(slots_);
  const Tokens tokens = tokens_from(0, 6);
  start(first, tokens);
  ASSERT_EQ(first.swap_out().code, KVC_OK);
  Sequence second(slots_);
  start(second, tokens_from(100, 28));
  expect_counts(7, 0, 1);
  std::vector<std::size_t> missing = {9};
  EXPECT_EQ(first.swap_in(&missing).code, KVC_NO_SPACE);
  EXPECT_TRUE(missing.empty());
  expect_counts(7, 0, 1);
  second.free();
  ASSERT_EQ(first.swap_in().code, KVC_OK);
  expect_right(first, tokens);
}

// The prompt was half computed: what is written is kept, what is not needs no keeping.
TEST_F(SequenceTest, APromptIsSwappedOutInTheMiddle) {
  Sequence sequence(slots_);
  const Tokens tokens = tokens_from(0, 15);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens_from(0, 9), kBlock));
  slots_.commit_fault = {.first = 1, .code = KVC_NO_SPACE};
  EXPECT_EQ(sequence.commit(9).code, KVC_NO_SPACE);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_EQ(sequence.saved_bytes(), 2 * kBlock * kTokenBytes);
  pool_.evict_all();
  EXPECT_EQ(sequence.swap_in().code, KVC_NOT_FOUND);
  ASSERT_EQ(sequence.recompute().code, KVC_OK);
  EXPECT_EQ(sequence.written_count(), 0U);
  write(sequence, tokens);
  expect_right(sequence, tokens);
}

}  // namespace
}  // namespace kvtier::test
