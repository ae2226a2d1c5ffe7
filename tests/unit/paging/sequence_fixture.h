#pragma once
// Sequences over a small pool with bytes, and what tests ask of both.

#include "tests/unit/paging/engine.h"
#include "tests/unit/paging/faulty_slots.h"
#include "tools/paging/virtual_pool.h"

namespace kvtier::test {

inline constexpr std::size_t kBlock = 4;  // tokens
inline constexpr std::size_t kTokenBytes = 16;

class SequenceTest : public testing::Test {
 protected:
  void write(Sequence& sequence, const Tokens& tokens) {
    ASSERT_TRUE(compute(sequence, tokens, kBlock));
    ASSERT_EQ(sequence.commit(tokens.size()).code, KVC_OK);
  }
  void append_and_write(Sequence& sequence, Tokens& tokens, std::uint32_t token) {
    tokens.push_back(token);
    ASSERT_EQ(sequence.append(token).code, KVC_OK);
    write(sequence, tokens);
  }
  void start(Sequence& sequence, const Tokens& tokens) {
    ASSERT_EQ(sequence.allocate(tokens).code, KVC_OK);
    write(sequence, tokens);
  }
  static void expect_right(const Sequence& sequence, const Tokens& tokens) {
    EXPECT_EQ(sequence.tokens_count(), tokens.size());
    EXPECT_EQ(sequence.written_count(), tokens.size());
    EXPECT_EQ(first_wrong(sequence, tokens, kBlock), tokens.size());
  }
  void expect_counts(std::size_t shared, std::size_t own, std::size_t evictable) {
    EXPECT_EQ(pool_.leased_count(), shared);
    EXPECT_EQ(pool_.private_count(), own);
    EXPECT_EQ(pool_.evictable_count(), evictable);
    EXPECT_EQ(pool_.free_count(), pool_.slots_count() - shared - own - evictable);
  }

  sim::VirtualPool pool_{{.slots = 8, .block_tokens = kBlock, .block_bytes = kBlock * kTokenBytes}};
  FaultySlots slots_{pool_};
};

}  // namespace kvtier::test
