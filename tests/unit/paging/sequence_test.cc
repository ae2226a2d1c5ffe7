// Sequences over a pool with bytes: every verb, what it does to the slots, and what it refuses.

#include "tests/unit/paging/sequence_fixture.h"

namespace kvtier::test {
namespace {

TEST_F(SequenceTest, AllocateReservesThePromptAndCommitPublishesItsFullBlocks) {
  Sequence sequence(slots_);
  const Tokens prompt = tokens_from(0, 10);
  ASSERT_EQ(sequence.allocate(prompt).code, KVC_OK);
  EXPECT_EQ(sequence.blocks_count(), 3U);
  EXPECT_EQ(sequence.written_count(), 0U);
  expect_counts(0, 3, 0);
  ASSERT_TRUE(compute(sequence, prompt, kBlock));
  EXPECT_EQ(sequence.commit(7).code, KVC_OK) << "two blocks are begun, one is full";
  expect_counts(1, 2, 0);
  EXPECT_TRUE(sequence.writable(0).empty()) << "published";
  EXPECT_FALSE(sequence.writable(1).empty());
  EXPECT_EQ(sequence.commit(10).code, KVC_OK);
  expect_counts(2, 1, 0);
  expect_right(sequence, prompt);
}

TEST_F(SequenceTest, C11_APromptThatIsThereLeavesATokenToCompute) {
  const Tokens prompt = tokens_from(0, 8);
  Sequence first(slots_);
  start(first, prompt);
  Sequence second(slots_);
  ASSERT_EQ(second.allocate(prompt).code, KVC_OK);
  EXPECT_EQ(second.written_count(), 4U);
  EXPECT_EQ(second.table()[0].slot(), first.table()[0].slot()) << "leased, not copied";
  expect_counts(2, 1, 0);
  write(second, prompt);
  EXPECT_EQ(second.table()[1].slot(), first.table()[1].slot())
      << "who commits second takes the block that exists";
  expect_counts(2, 0, 0);
  Sequence third(slots_);
  ASSERT_EQ(third.allocate(tokens_from(0, 9), 7).code, KVC_OK);
  EXPECT_EQ(third.written_count(), 4U) << "no more than was asked for";
}

TEST_F(SequenceTest, AppendTakesANewBlockWhenTheLastOneIsFull) {
  Sequence sequence(slots_);
  Tokens tokens = tokens_from(0, 3);
  start(sequence, tokens);
  append_and_write(sequence, tokens, 7);
  EXPECT_EQ(sequence.blocks_count(), 1U);
  expect_counts(1, 0, 0);
  append_and_write(sequence, tokens, 8);
  EXPECT_EQ(sequence.blocks_count(), 2U);
  expect_counts(1, 1, 0);
  const Tokens more = tokens_from(50, 9);
  tokens.insert(tokens.end(), more.begin(), more.end());
  ASSERT_EQ(sequence.extend(more).code, KVC_OK);
  EXPECT_EQ(sequence.blocks_count(), 4U);
  write(sequence, tokens);
  expect_right(sequence, tokens);
  EXPECT_EQ(pool_.keys(tokens, nullptr).size(), sequence.keys().size());
  for (std::size_t i = 0; i < sequence.keys().size(); ++i)
    EXPECT_EQ(std::memcmp(&sequence.keys()[i], &pool_.keys(tokens, nullptr)[i], sizeof(kvc_key)), 0) << i;
}

TEST_F(SequenceTest, L07_WhatDoesNotFitTakesNothing) {
  Sequence first(slots_);
  start(first, tokens_from(0, 20));
  Sequence second(slots_);
  const auto refused = second.allocate(tokens_from(100, 16));
  EXPECT_EQ(refused.code, KVC_NO_SPACE);
  EXPECT_EQ(refused.cause, KVC_CAUSE_PINNED_BY);
  EXPECT_EQ(second.state(), Sequence::State::kEmpty);
  expect_counts(5, 0, 0);
  EXPECT_EQ(first.extend(tokens_from(20, 13)).code, KVC_NO_SPACE);
  EXPECT_EQ(first.tokens_count(), 20U);
  expect_counts(5, 0, 0);
  EXPECT_EQ(second.allocate(tokens_from(100, 12)).code, KVC_OK);
  EXPECT_EQ(first.append(1).code, KVC_NO_SPACE);
  expect_right(first, tokens_from(0, 20));
  Sequence third(slots_);
  EXPECT_EQ(third.allocate(tokens_from(0, 36)).code, KVC_NO_SPACE) << "nor is its prefix kept";
  EXPECT_EQ(third.allocate(tokens_from(500, 36)).cause, KVC_CAUSE_REQUEST_TOO_LARGE);
  expect_counts(5, 3, 0);
}

TEST_F(SequenceTest, BlocksOfOthersAreEvictedWhenNoSlotIsFree) {
  {
    Sequence first(slots_);
    start(first, tokens_from(0, 16));
  }
  expect_counts(0, 0, 4);
  Sequence second(slots_);
  start(second, tokens_from(100, 20));
  expect_counts(5, 0, 3);
  EXPECT_EQ(pool_.evictions_count(), 1U);
  Sequence again(slots_);
  ASSERT_EQ(again.allocate(tokens_from(0, 12)).code, KVC_OK);
  EXPECT_EQ(again.written_count(), 8U) << "the end of a prefix leaves before its beginning";
}

TEST_F(SequenceTest, AForkSharesEveryBlockAndCopiesTheLastOneWhenItWrites) {
  Sequence parent(slots_);
  Tokens tokens = tokens_from(0, 6);
  start(parent, tokens);
  Sequence child(slots_);
  ASSERT_EQ(parent.fork(child).code, KVC_OK);
  expect_counts(1, 1, 0);
  EXPECT_TRUE(parent.writable(1).empty());
  EXPECT_TRUE(child.writable(1).empty());
  Tokens other = tokens;
  append_and_write(child, other, 100);
  EXPECT_EQ(slots_.copies_count, 1U);
  expect_counts(1, 2, 0);
  append_and_write(parent, tokens, 200);
  EXPECT_EQ(slots_.copies_count, 1U) << "nobody else had it any more";
  expect_counts(1, 2, 0);
  append_and_write(child, other, 101);
  append_and_write(parent, tokens, 201);
  expect_counts(3, 0, 0);
  expect_right(parent, tokens);
  expect_right(child, other);
  parent.free();
  expect_right(child, other);
  expect_counts(2, 0, 1);
}

TEST_F(SequenceTest, ForksThatWriteTheSameShareItAgain) {
  Sequence parent(slots_);
  Tokens tokens = tokens_from(0, 3);
  start(parent, tokens);
  Sequence child(slots_);
  ASSERT_EQ(parent.fork(child).code, KVC_OK);
  Tokens same = tokens;
  append_and_write(parent, tokens, 9);
  append_and_write(child, same, 9);
  expect_counts(1, 0, 0);
  expect_right(child, same);
}

// The copy and a new block are one request.
TEST_F(SequenceTest, AForkThatHasNoRoomForItsCopyStaysAsItWas) {
  Sequence parent(slots_);
  Tokens tokens = tokens_from(0, 30);
  start(parent, tokens);
  Sequence child(slots_);
  ASSERT_EQ(parent.fork(child).code, KVC_OK);
  expect_counts(7, 1, 0);
  EXPECT_EQ(child.append(1).code, KVC_NO_SPACE);
  EXPECT_EQ(child.extend(tokens_from(1, 3)).code, KVC_NO_SPACE);
  expect_right(child, tokens);
  child.free();
  append_and_write(parent, tokens, 5);
  expect_right(parent, tokens);
}

// Full blocks that could not be published yet are in common too: one commit serves both.
TEST_F(SequenceTest, OneOfAForkCommitsForAll) {
  Sequence parent(slots_);
  const Tokens tokens = tokens_from(0, 10);
  ASSERT_EQ(parent.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(parent, tokens, kBlock));
  slots_.commit_fault = {.first = 0, .code = KVC_PENDING};
  EXPECT_EQ(parent.commit(10).code, KVC_PENDING);
  expect_counts(0, 3, 0);
  Sequence child(slots_);
  ASSERT_EQ(parent.fork(child).code, KVC_OK);
  EXPECT_EQ(child.commit(10).code, KVC_OK);
  expect_counts(2, 1, 0);
  EXPECT_EQ(parent.commit(10).code, KVC_OK);
  expect_right(parent, tokens);
}

TEST_F(SequenceTest, ABlockThatCannotBePublishedKeepsItsSuccessorsPrivate) {
  Sequence sequence(slots_);
  const Tokens tokens = tokens_from(0, 14);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  slots_.commit_fault = {.first = 1, .code = KVC_NO_SPACE};
  EXPECT_EQ(sequence.commit(14).code, KVC_NO_SPACE);
  expect_counts(1, 3, 0);
  expect_right(sequence, tokens);
  EXPECT_EQ(sequence.commit(14).code, KVC_OK);
  expect_counts(3, 1, 0);
}

// Its block is in the cache, and cannot be leased at the moment: on disk, say.
TEST_F(SequenceTest, ABlockThatStaysPrivateKeepsNoOtherSo) {
  Sequence sequence(slots_);
  Tokens tokens = tokens_from(0, 14);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  using Kind = FaultySlots::CommitFault::Kind;
  slots_.commit_fault = {.first = 1, .code = KVC_EXISTS, .kind = Kind::kSkip};
  EXPECT_EQ(sequence.commit(14).code, KVC_EXISTS);
  expect_counts(2, 2, 0);
  tokens.push_back(100);
  ASSERT_EQ(sequence.append(100).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  EXPECT_EQ(sequence.commit(15).code, KVC_OK) << "no block was filled: it is not tried again yet";
  expect_counts(2, 2, 0);
  tokens.push_back(101);
  ASSERT_EQ(sequence.append(101).code, KVC_OK);
  ASSERT_TRUE(compute(sequence, tokens, kBlock));
  slots_.commit_fault = {.first = 0, .code = KVC_EXISTS, .kind = Kind::kSkip};
  EXPECT_EQ(sequence.commit(16).code, KVC_EXISTS);
  expect_counts(3, 1, 0);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_EQ(sequence.saved_bytes(), 3 * kBlock * kTokenBytes) << "from the private one on";
  ASSERT_EQ(sequence.swap_in().code, KVC_OK);
  expect_right(sequence, tokens);
  EXPECT_EQ(sequence.commit(16).code, KVC_OK) << "nothing new: it is tried again";
  expect_counts(4, 0, 0);
}

TEST_F(SequenceTest, ALostBlockIsSaidByAllWhoHadItAndComputedAgain) {
  Sequence parent(slots_);
  const Tokens tokens = tokens_from(0, 10);
  ASSERT_EQ(parent.allocate(tokens).code, KVC_OK);
  ASSERT_TRUE(compute(parent, tokens, kBlock));
  slots_.commit_fault = {.first = 0, .code = KVC_PENDING};
  EXPECT_EQ(parent.commit(10).code, KVC_PENDING);
  Sequence child(slots_);
  ASSERT_EQ(parent.fork(child).code, KVC_OK);
  slots_.commit_fault = {.first = 1, .code = KVC_STALE, .kind = FaultySlots::CommitFault::Kind::kLose};
  EXPECT_EQ(parent.commit(10).code, KVC_STALE);
  EXPECT_EQ(parent.written_count(), 4U);
  EXPECT_TRUE(parent.readable(1).empty());
  EXPECT_EQ(child.commit(10).code, KVC_NOT_FOUND);
  EXPECT_EQ(child.written_count(), 4U);
  Sequence grandchild(slots_);
  EXPECT_EQ(child.fork(grandchild).code, KVC_INVALID) << "it is not whole";
  ASSERT_EQ(child.recompute().code, KVC_OK);
  EXPECT_EQ(child.written_count(), 4U);
  EXPECT_EQ(child.tokens_count(), 10U);
  write(child, tokens);
  expect_right(child, tokens);
  ASSERT_EQ(parent.recompute().code, KVC_OK);
  EXPECT_EQ(parent.written_count(), 8U) << "the other one has computed it";
  write(parent, tokens);
  expect_counts(2, 2, 0);
}

TEST_F(SequenceTest, RefusedCallsChangeNothing) {
  Sequence empty(slots_);
  Sequence child(slots_);
  EXPECT_EQ(empty.allocate({}).code, KVC_INVALID);
  EXPECT_EQ(empty.append(1).code, KVC_INVALID);
  EXPECT_EQ(empty.commit(0).code, KVC_INVALID);
  EXPECT_EQ(empty.swap_out().code, KVC_INVALID);
  EXPECT_EQ(empty.swap_in().code, KVC_INVALID);
  EXPECT_EQ(empty.recompute().code, KVC_INVALID);
  EXPECT_EQ(empty.fork(child).code, KVC_INVALID);
  Sequence sequence(slots_);
  const Tokens tokens = tokens_from(0, 5);
  ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
  EXPECT_EQ(sequence.fork(child).code, KVC_INVALID) << "it is not written";
  EXPECT_EQ(sequence.commit(6).code, KVC_INVALID);
  EXPECT_EQ(sequence.allocate(tokens).code, KVC_INVALID);
  EXPECT_EQ(sequence.swap_in().code, KVC_INVALID);
  EXPECT_EQ(sequence.extend({}).code, KVC_OK);
  write(sequence, tokens);
  sim::VirtualPool other_pool({.slots = 8, .block_tokens = kBlock});
  Sequence other(other_pool);
  EXPECT_EQ(sequence.fork(other).code, KVC_INVALID) << "another source";
  slots_.refuse_reserve = KVC_UNAVAILABLE;
  const auto refused = sequence.extend(tokens_from(9, 4));
  EXPECT_EQ(refused.code, KVC_UNAVAILABLE);
  EXPECT_EQ(refused.detail, 4711U);
  ASSERT_EQ(sequence.swap_out().code, KVC_OK);
  EXPECT_EQ(sequence.append(1).code, KVC_INVALID);
  EXPECT_EQ(sequence.commit(5).code, KVC_INVALID);
  EXPECT_EQ(sequence.swap_out().code, KVC_INVALID);
  EXPECT_EQ(sequence.fork(child).code, KVC_INVALID);
  ASSERT_EQ(sequence.swap_in().code, KVC_OK);
  expect_right(sequence, tokens);
}

TEST_F(SequenceTest, AMovedSequenceIsEmptyAndItsTargetFreesWhatItHad) {
  Sequence first(slots_);
  start(first, tokens_from(0, 6));
  Sequence second(slots_);
  start(second, tokens_from(100, 6));
  second = std::move(first);
  expect_counts(1, 1, 1);
  Sequence third(std::move(second));
  expect_right(third, tokens_from(0, 6));
  third.free();
  EXPECT_EQ(third.state(), Sequence::State::kEmpty);
  start(third, tokens_from(0, 2));
  expect_counts(0, 1, 2);
}

}  // namespace
}  // namespace kvtier::test
