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
