#include "daemon/agent/mailbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "daemon/agent/eventfd_waiter.h"
#include "tests/unit/agent/agent_doubles.h"

namespace kvtier {
namespace {

struct Command {
  std::uint32_t sender = 0;
  std::uint32_t number = 0;
};

TEST(Mailbox, FirstInFirstOutAndWakes) {
  ManualClock clock;
  RecordingWaiter waiter(clock);
  Mailbox<int> mailbox(4, waiter);
  int out = 0;
  EXPECT_FALSE(mailbox.pop(out));
  for (int lap = 0; lap < 5; ++lap) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(mailbox.push(10 * lap + i));
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(mailbox.pop(out));
      EXPECT_EQ(out, 10 * lap + i);
    }
  }
  EXPECT_EQ(waiter.wakes, 15);
}

TEST(Mailbox, FullOneRefusesAndLeavesTheCommand) {
  ManualClock clock;
  RecordingWaiter waiter(clock);
  Mailbox<std::unique_ptr<int>> mailbox(2, waiter);
  EXPECT_TRUE(mailbox.push(std::make_unique<int>(1)));
  EXPECT_TRUE(mailbox.push(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(mailbox.push(std::move(third)));
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(waiter.wakes, 2);
  std::unique_ptr<int> out;
  ASSERT_TRUE(mailbox.pop(out));
  EXPECT_EQ(*out, 1);
  EXPECT_TRUE(mailbox.push(std::move(third)));
}

TEST(Mailbox, SmallestCapacity) {
  ManualClock clock;
  RecordingWaiter waiter(clock);
  Mailbox<int> mailbox(2, waiter);
  int out = 0;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(mailbox.push(i));
    EXPECT_TRUE(mailbox.push(i + 100));
    EXPECT_FALSE(mailbox.push(-1));
    ASSERT_TRUE(mailbox.pop(out));
    EXPECT_EQ(out, i);
    ASSERT_TRUE(mailbox.pop(out));
    EXPECT_FALSE(mailbox.pop(out));
  }
}

// Senders retry when it is full; the receiver sleeps when it is empty. Nothing is lost, doubled or out of
// order.
TEST(Mailbox, ManySendersLoseNothing) {
  constexpr std::uint32_t kSenders = 4;
  constexpr std::uint32_t kEach = 5000;
  const auto waiter = EventfdWaiter::create().value();
  Mailbox<Command> mailbox(64, *waiter);
  std::vector<std::thread> senders;
  for (std::uint32_t sender = 0; sender < kSenders; ++sender) {
    senders.emplace_back([&mailbox, sender] {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        while (!mailbox.push({sender, i})) std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint32_t> next(kSenders, 0);
  std::uint32_t received = 0;
  while (received < kSenders * kEach) {
    Command command;
    if (!mailbox.pop(command)) {
      waiter->wait(0, kNever);
      continue;
    }
    EXPECT_EQ(command.number, next[command.sender]++);
    ++received;
  }
  for (std::thread& sender : senders) sender.join();
  Command command;
  EXPECT_FALSE(mailbox.pop(command));
}

TEST(MailboxDeathTest, CapacityIsAPowerOfTwo) {
  ManualClock clock;
  RecordingWaiter waiter(clock);
  EXPECT_DEATH(Mailbox<int>(3, waiter), "power of two");
  EXPECT_DEATH(Mailbox<int>(1, waiter), "power of two");
}

}  // namespace
}  // namespace kvtier
