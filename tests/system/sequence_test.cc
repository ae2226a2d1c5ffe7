// Sequences of several processes over a real daemon: shared, forked, swapped out, evicted in between, and read back byte
// by byte.

#include "kvclient/client_slots.hpp"
#include "tests/system/nvme_fixture.h"
#include "tests/unit/paging/engine.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kBlock = 16;
constexpr std::uint64_t kRestoreNs = 20 * kNsPerSecond;

/// Computes and commits; false: a block could not be written or published.
bool write(Sequence& sequence, const Tokens& tokens) {
  return compute(sequence, tokens, kBlock) && sequence.commit(tokens.size()).is_ok();
}

bool decode(Sequence& sequence, Tokens& tokens, std::uint32_t first, std::size_t count) {
  for (const std::uint32_t token : tokens_from(first, count)) {
    tokens.push_back(token);
    if (!sequence.append(token).is_ok() || !write(sequence, tokens)) return false;
  }
  return true;
}

bool is_right(const Sequence& sequence, const Tokens& tokens) {
  return sequence.written_count() == tokens.size() && first_wrong(sequence, tokens, kBlock) == tokens.size();
}

class SequenceSystem : public NvmeTest {
 protected:
  kvclient::ClientSlots slots_of(CacheClient& client) {
    return {client.client(), client.space(), {.deadline_ns = 5 * kNsPerSecond, .restore_ns = kRestoreNs}};
  }
  /// Another process; what it returns.
  template <class Body>
  int elsewhere(Body body) {
    const pid_t child = in_child([&]() -> int {
      CacheClient client({.socket = place_.socket()});
      kvclient::ClientSlots slots{client.client(), client.space(), {.restore_ns = kRestoreNs}};
      return body(client, slots);
    });
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// Until nothing of the keys is in memory. By the client that wrote them: others take their own slots first.
  void drive_out(CacheClient& client, kvclient::Keys keys) {
    std::uint64_t chain = 100;
    EXPECT_TRUE(eventually([&] {
      (void)client.store(chain++, 0, kChainBlocks);
      std::vector<std::uint8_t> states(keys.size());
      std::size_t ready = 0;
      (void)kvc_match(client.space(), keys.data(), keys.size(), states.data(), &ready);
      return std::ranges::none_of(states, [](std::uint8_t state) { return state == KVC_READY; });
    })) << place_.output();
  }
};

TEST_F(SequenceSystem, AForkedSequenceComesBackFromDiskWithItsBytes) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  kvclient::ClientSlots slots = slots_of(client);
  Tokens one = tokens_from(0, 12 * kBlock + 5);
  Sequence first(slots);
  ASSERT_TRUE(first.allocate(one).is_ok() && write(first, one)) << kvc_last_error();
  Tokens two = one;
  Sequence second(slots);
  ASSERT_TRUE(first.fork(second).is_ok());
  ASSERT_TRUE(decode(first, one, 1000, 40)) << kvc_last_error();
  ASSERT_TRUE(decode(second, two, 2000, 40)) << kvc_last_error();
  EXPECT_EQ(first.readable(3).data(), second.readable(3).data()) << "in common";
  EXPECT_TRUE(is_right(first, one));
  EXPECT_TRUE(is_right(second, two));

  ASSERT_TRUE(first.swap_out().is_ok());
  ASSERT_TRUE(second.swap_out().is_ok());
  EXPECT_TRUE(counter_reaches("demotions", 16)) << place_.output();  // 12, and two of each
  drive_out(client, first.keys());
  drive_out(client, second.keys());
  std::size_t ready = 9;
  ASSERT_EQ(kvc_match(client.space(), first.keys().data(), 1, nullptr, &ready), KVC_OK);
  EXPECT_EQ(ready, 0U);

  ASSERT_TRUE(eventually([&] { return first.swap_in().is_ok(); })) << kvc_last_error();
  ASSERT_TRUE(eventually([&] { return second.swap_in().is_ok(); })) << kvc_last_error();
  EXPECT_TRUE(is_right(first, one));
  EXPECT_TRUE(is_right(second, two));
  ASSERT_TRUE(decode(first, one, 3000, 20)) << kvc_last_error();
  EXPECT_TRUE(is_right(first, one));

  // Another process goes on from what the first one has decoded, while that still runs.
  EXPECT_EQ(elsewhere([&](CacheClient&, kvclient::ClientSlots& others) {
              Tokens tokens = one;
              Sequence sequence(others);
              if (!sequence.allocate(tokens).is_ok()) return 1;
              if (sequence.written_count() != one.size() / kBlock * kBlock) return 2;
              if (!write(sequence, tokens) || !decode(sequence, tokens, 4000, 20)) return 3;
              return is_right(sequence, tokens) ? 0 : 4;
            }),
            0);
  EXPECT_TRUE(is_right(first, one));
  EXPECT_TRUE(is_right(second, two));
}

TEST_F(SequenceSystem, WhatWasEvictedForGoodIsNamedAndComputedAgain) {
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  kvclient::ClientSlots slots = slots_of(client);
  Tokens tokens = tokens_from(0, 10 * kBlock + 3);
  Sequence sequence(slots);
  ASSERT_TRUE(sequence.allocate(tokens).is_ok() && write(sequence, tokens)) << kvc_last_error();
  ASSERT_TRUE(sequence.swap_out().is_ok());
  drive_out(client, sequence.keys());
  std::vector<std::size_t> missing;
  EXPECT_EQ(sequence.swap_in(&missing).code, KVC_NOT_FOUND);
  EXPECT_EQ(missing.size(), 10U);
  ASSERT_TRUE(eventually([&] { return sequence.recompute().is_ok(); })) << kvc_last_error();
  EXPECT_EQ(sequence.written_count(), 0U);
  ASSERT_TRUE(write(sequence, tokens)) << kvc_last_error();
  ASSERT_TRUE(decode(sequence, tokens, 50, 40)) << kvc_last_error();
  EXPECT_TRUE(is_right(sequence, tokens));
}

// Everything that is not a sequence's may leave; nothing that is one's does.
TEST_F(SequenceSystem, RunningSequencesKeepTheirBlocksWhileOthersFillTheMemory) {
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  kvclient::ClientSlots slots = slots_of(client);
  Tokens tokens = tokens_from(0, 5 * kBlock);
  Sequence sequence(slots);
  ASSERT_TRUE(sequence.allocate(tokens).is_ok() && write(sequence, tokens)) << kvc_last_error();
  const pid_t other = in_child([&]() -> int {
    CacheClient filler({.socket = place_.socket()});
    for (std::uint64_t chain = 0;; ++chain) (void)filler.store(chain, 0, kChainBlocks);
  });
  for (std::uint32_t i = 0; i < 20 * kBlock; ++i) {
    tokens.push_back(i);
    ASSERT_TRUE(eventually([&] { return sequence.append(i).is_ok(); })) << kvc_last_error();
    ASSERT_TRUE(compute(sequence, tokens, kBlock));
    (void)sequence.commit(tokens.size());  // without room for it the block stays private
    ASSERT_TRUE(i % kBlock != 0 || is_right(sequence, tokens)) << i;
  }
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_TRUE(is_right(sequence, tokens));
}

// Leases, reservations under keys, and those without: all of a process that dies comes back.
TEST_F(SequenceSystem, R08_WhatADeadProcessHadComesBack) {
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(elsewhere([&](CacheClient&, kvclient::ClientSlots& slots) -> int {
              Tokens tokens = tokens_from(0, 10 * kBlock + 3);
              Sequence running(slots);
              Sequence child(slots);
              Sequence begun(slots);
              const bool is_ok = running.allocate(tokens).is_ok() && write(running, tokens) &&
                                 running.fork(child).is_ok() && child.append(1).is_ok() &&
                                 begun.allocate(tokens_from(5000, 100)).is_ok();
              ::_exit(is_ok ? 7 : 1);
            }),
            7);
  EXPECT_TRUE(counter_becomes("blocks_writing", 0)) << place_.output();
  // All of the memory is anybody's again.
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(eventually([&] { return client.store(1, 0, 240) == 240; })) << client.error();
}

}  // namespace
}  // namespace kvtier::test
