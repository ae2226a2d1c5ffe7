#include "daemon/agent/agent_loop.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/unit/agent/agent_doubles.h"

namespace kvtier {
namespace {

class AgentLoopTest : public ::testing::Test {
 protected:
  AgentLoop make(TimeNs spin_ns = 0) {
    return {agent_, waiter_, clock_, {spin_ns, 500 * kNsPerMs, &heartbeat_}};
  }

  ManualClock clock_;
  ScriptedAgent agent_;
  RecordingWaiter waiter_{clock_};
  std::atomic<std::uint64_t> heartbeat_{0};
};

TEST_F(AgentLoopTest, WorksWithoutSleepingWhileThereIsWork) {
  int left = 3;
  agent_.on_work = [&](TimeNs) {
    clock_.advance(100);
    return left-- > 0 ? 1U : 0U;
  };
  AgentLoop loop = make();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(loop.round().is_ok());
  EXPECT_TRUE(waiter_.waits_ns.empty());
  EXPECT_EQ(loop.load().work_ns.load(), 300U);
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_EQ(waiter_.waits_ns.size(), 1U);
  EXPECT_EQ(loop.load().rounds.load(), 4U);
  EXPECT_EQ(loop.load().wakeups.load(), 1U);
}

TEST_F(AgentLoopTest, SleepsUntilTheDeadlineButNoLongerThanABeat) {
  AgentLoop loop = make();
  agent_.deadline_ns = clock_.now_ns() + 7;
  EXPECT_TRUE(loop.round().is_ok());
  agent_.deadline_ns = kNever;
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_EQ(waiter_.waits_ns, (std::vector<TimeNs>{7, 500 * kNsPerMs}));
}

TEST_F(AgentLoopTest, PastDeadlineDoesNotSleep) {
  AgentLoop loop = make();
  agent_.deadline_ns = clock_.now_ns();
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_TRUE(waiter_.waits_ns.empty());
}

TEST_F(AgentLoopTest, SpinsAfterWorkThenSleeps) {
  AgentLoop loop = make(20 * kNsPerUs);
  EXPECT_TRUE(loop.round().is_ok());
  clock_.advance(19 * kNsPerUs);
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_TRUE(waiter_.waits_ns.empty());
  clock_.advance(kNsPerUs);
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_EQ(waiter_.waits_ns.size(), 1U);
}

class AgentLoopSpinTest : public AgentLoopTest {
 protected:
  AgentLoopSpinTest() {
    agent_.on_work = [this](TimeNs) { return left_ > 0 ? left_-- : 0; };
  }
  // Polls or sleeps, finds `rounds` rounds of work when `gap_ns` are over, and rests. True: it sleeps then, and does not poll.
  bool sleeps_after_work_that_came_in(TimeNs gap_ns, std::size_t rounds = 1) {
    const TimeNs end_ns = agent_.deadline_ns = clock_.now_ns() + gap_ns;
    EXPECT_TRUE(loop_.round().is_ok());
    clock_.advance(end_ns - clock_.now_ns());
    left_ = rounds;
    for (std::size_t i = 0; i < rounds; ++i) EXPECT_TRUE(loop_.round().is_ok());
    const std::size_t before = waiter_.waits_ns.size();
    agent_.deadline_ns = clock_.now_ns() + kNsPerUs;
    EXPECT_TRUE(loop_.round().is_ok());
    return waiter_.waits_ns.size() > before;
  }

  static constexpr TimeNs kSoon = 10 * kNsPerUs;
  static constexpr TimeNs kLate = 100 * kNsPerUs;
  AgentLoop loop_ = make(20 * kNsPerUs);
  std::size_t left_ = 0;
};

// On the processor of the one that gives it work a thread that polls in vain takes that much time from it, each time.
TEST_F(AgentLoopSpinTest, PollsNoMoreWhereThatNeverFindsWork) {
  EXPECT_FALSE(sleeps_after_work_that_came_in(kLate));
  for (int i = 0; i < 3; ++i) (void)sleeps_after_work_that_came_in(kLate);
  EXPECT_TRUE(sleeps_after_work_that_came_in(kLate));
  EXPECT_FALSE(sleeps_after_work_that_came_in(kSoon)) << "a wakeup costs more";
}

// A reservation, its commits soon after it, a pause.
TEST_F(AgentLoopSpinTest, PollsWhereEverySecondTimeFindsWork) {
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(sleeps_after_work_that_came_in(kLate));
    EXPECT_FALSE(sleeps_after_work_that_came_in(kSoon));
  }
}

// How much work there is says nothing of how soon it comes.
TEST_F(AgentLoopSpinTest, IsNotJudgedByRoundsOfTheSameWork) {
  for (int i = 0; i < 4; ++i) (void)sleeps_after_work_that_came_in(kLate, 10);
  EXPECT_TRUE(sleeps_after_work_that_came_in(kLate, 10));
}

TEST_F(AgentLoopTest, SpinChangesAtRunTime) {
  AgentLoop loop = make(kNsPerSecond);
  loop.set_spin_ns(0);
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_EQ(waiter_.waits_ns.size(), 1U);
}

TEST_F(AgentLoopTest, HeartbeatGoesToBothPlaces) {
  AgentLoop loop = make();
  clock_.advance(5);
  const TimeNs now_ns = clock_.now_ns();
  EXPECT_TRUE(loop.round().is_ok());
  EXPECT_EQ(heartbeat_.load(), now_ns);
  EXPECT_EQ(loop.load().heartbeat_ns.load(), now_ns);
}

TEST_F(AgentLoopTest, FailureAndExceptionAreReported) {
  AgentLoop loop = make();
  agent_.failure = Status(Code::kCorrupt, "superblock");
  EXPECT_EQ(loop.round().code(), Code::kCorrupt);
  agent_.failure = Status::ok();
  agent_.on_work = [](TimeNs) -> std::size_t { throw std::runtime_error("table full"); };
  const Status status = loop.round();
  EXPECT_EQ(status.code(), Code::kSystem);
  EXPECT_NE(status.message().find("table full"), std::string::npos);
}

}  // namespace
}  // namespace kvtier
