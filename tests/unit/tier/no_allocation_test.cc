// After kReady, puts, gets, flushes, answers and a scrub allocate nothing, on no thread.

#include <gtest/gtest.h>
#include <sched.h>

#include "tests/support/allocation_trap.h"
#include "tests/unit/tier/running_tier.h"

namespace kvtier::test {
namespace {

class NvmeTierAllocations : public ::testing::TestWithParam<IoEngine> {};

/// Blocks go there in groups, are flushed, and come back.
void work(RunningTier& life, std::uint64_t first, std::uint64_t count) {
  std::size_t seen = life.news.size();
  for (std::uint64_t i = first; i < first + count; ++i) {
    DiskCommand put = life.command(DiskCommandKind::kPut, i, static_cast<std::uint32_t>(i % 500));
    put.is_group_end = i % 20 == 19;
    life.send(put);
  }
  std::uint64_t puts = 0;
  for (std::uint64_t others = 0; puts < count || others < count + 1; ++seen) {
    while (seen == life.news.size()) life.receive_one();
    const DiskNews news = life.news[seen];
    ASSERT_EQ(news.code, Code::kOk);
    if (news.kind != DiskNewsKind::kPut) {
      ++others;
      continue;
    }
    DiskCommand get =
        life.command(DiskCommandKind::kGet, news.tag, static_cast<std::uint32_t>(500 + news.tag % 500));
    get.locator = news.locator;
    life.send(get);
    if (++puts == count) life.send({.kind = DiskCommandKind::kFlush});
  }
}

TEST_P(NvmeTierAllocations, WorkAllocatesNothing) {
  const ScratchDir dir;
  RunningTier life(options_of({make_folder(dir, "a")}, GetParam()));
  ASSERT_NE(life.opening().tier, nullptr) << life.opening().status.to_string();
  life.news.reserve(20'000);
  life.open();
  work(life, 0, 100);
  const std::size_t before = AllocationTrap::caught_count();
  {
    const AllocationTrap trap(AllocationTrap::Watch::kAllThreads);
    work(life, 100, 1000);  // more than one segment
    life.send({.kind = DiskCommandKind::kVerify, .tag = 7});
    while (life.tier().snapshot().read().verify.state != VerifyState::kDone) ::sched_yield();
  }
  EXPECT_EQ(AllocationTrap::caught_count(), before) << "the places are above";
  EXPECT_GE(life.tier().snapshot().read().verify.blocks_good, 1100U);
}

INSTANTIATE_TEST_SUITE_P(Engines, NvmeTierAllocations, ::testing::Values(IoEngine::kPosix, IoEngine::kAuto),
                         [](const auto& each) { return each.param == IoEngine::kPosix ? "posix" : "auto"; });

}  // namespace
}  // namespace kvtier::test
