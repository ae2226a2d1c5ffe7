#include "daemon/agent/agent_runner.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>
#include <stdexcept>
#include <thread>

#include "daemon/agent/eventfd_waiter.h"
#include "daemon/agent/mailbox.h"
#include "tests/unit/agent/agent_doubles.h"

namespace kvtier {
namespace {

// Sums what it is sent, and says when the sum is reached.
class SummingAgent final : public Agent {
 public:
  SummingAgent(Waiter& waiter, int goal) : mailbox(16, waiter), goal_(goal) {}
  [[nodiscard]] std::string_view name() const override { return "summing"; }
  std::size_t do_work(TimeNs) override {
    std::size_t work = 0;
    for (int number = 0; work < 4 && mailbox.pop(number); ++work) {
      sum_ += number;
      if (sum_ == goal_) reached.set_value(sum_);
    }
    return work;
  }

  Mailbox<int> mailbox;
  std::promise<int> reached;

 private:
  const int goal_;
  int sum_ = 0;
};

class AgentRunnerTest : public ::testing::Test {
 protected:
  const SystemClock clock_;
  const std::unique_ptr<EventfdWaiter> waiter_ = EventfdWaiter::create().value();
};

TEST_F(AgentRunnerTest, CommandsAreDoneAndTheThreadStops) {
  SummingAgent agent(*waiter_, 5050);
  AgentRunner runner(agent, *waiter_, clock_, {});
  ASSERT_TRUE(runner.start().is_ok());
  for (int i = 1; i <= 100; ++i) {
    while (!agent.mailbox.push(i)) std::this_thread::yield();
  }
  EXPECT_EQ(agent.reached.get_future().get(), 5050);
  runner.stop();
  runner.stop();
  EXPECT_GT(runner.load().rounds.load(), 0U);
}

TEST_F(AgentRunnerTest, DestructionStopsAnIdleAgent) {
  ScriptedAgent agent;
  AgentLoopOptions options;
  options.beat_ns = 3600 * kNsPerSecond;
  AgentRunner runner(agent, *waiter_, clock_, options);
  ASSERT_TRUE(runner.start().is_ok());
}

TEST_F(AgentRunnerTest, ThreadTakesNoSignals) {
  ScriptedAgent agent;
  std::promise<bool> is_blocked;
  agent.on_work = [&, is_told = false](TimeNs) mutable {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (!std::exchange(is_told, true)) is_blocked.set_value(sigismember(&mask, SIGTERM) == 1);
    return 0U;
  };
  AgentRunner runner(agent, *waiter_, clock_, {});
  ASSERT_TRUE(runner.start().is_ok());
  EXPECT_TRUE(is_blocked.get_future().get());
}

TEST_F(AgentRunnerTest, FailureReachesTheHandlerWithTheName) {
  ScriptedAgent agent;
  agent.failure = Status(Code::kCorrupt, "superblock");
  std::promise<std::string> told;
  AgentRunner runner(agent, *waiter_, clock_, {}, [&](std::string_view name, const Status& status) {
    told.set_value(std::string(name) + ": " + status.to_string());
  });
  ASSERT_TRUE(runner.start().is_ok());
  EXPECT_EQ(told.get_future().get(), "scripted: corrupt: superblock");
}

TEST_F(AgentRunnerTest, FrozenRoundIsSeen) {
  ScriptedAgent agent;
  std::promise<void> entered;
  std::promise<void> go_on;
  agent.on_work = [&, is_first = true](TimeNs) mutable {
    if (std::exchange(is_first, false)) {
      entered.set_value();
      go_on.get_future().wait();
    }
    return 0U;
  };
  AgentLoopOptions options;
  AgentRunner runner(agent, *waiter_, clock_, options);
  ASSERT_TRUE(runner.start().is_ok());
  entered.get_future().wait();
  const TimeNs beat_ns = runner.load().heartbeat_ns.load();
  EXPECT_FALSE(runner.is_frozen(beat_ns));
  EXPECT_FALSE(runner.is_frozen(beat_ns + 2 * options.beat_ns));
  EXPECT_TRUE(runner.is_frozen(beat_ns + 2 * options.beat_ns + 1));
  go_on.set_value();
}

using AgentRunnerDeathTest = AgentRunnerTest;

TEST_F(AgentRunnerDeathTest, FailureEndsTheProcessNonZero) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ScriptedAgent agent;
  agent.on_work = [](TimeNs) -> std::size_t { throw std::runtime_error("index full"); };
  const auto run = [&] {
    AgentRunner runner(agent, *waiter_, clock_, {});
    static_cast<void>(runner.start());
    for (;;) std::this_thread::yield();
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(kAgentFailedExit),
              "agent scripted failed: system: .*index full");
}

}  // namespace
}  // namespace kvtier
