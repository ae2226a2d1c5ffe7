#include "daemon/agent/eventfd_waiter.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace kvtier {
namespace {

bool is_readable(int fd) {
  pollfd poll_one{fd, POLLIN, 0};
  return poll(&poll_one, 1, 0) == 1;
}

TEST(EventfdWaiter, WakeBeforeTheWaitEndsItAtOnce) {
  const auto waiter = EventfdWaiter::create().value();
  waiter->wake();
  waiter->wait(0, kNever);
  EXPECT_FALSE(is_readable(waiter->fd()));
}

TEST(EventfdWaiter, ManyWakesAreOne) {
  const auto waiter = EventfdWaiter::create().value();
  for (int i = 0; i < 100; ++i) waiter->wake();
  waiter->wait(0, kNever);
  EXPECT_FALSE(is_readable(waiter->fd()));
  waiter->wake();
  EXPECT_TRUE(is_readable(waiter->fd()));
}

TEST(EventfdWaiter, TimePassesWithoutAWake) {
  const auto waiter = EventfdWaiter::create().value();
  const SystemClock clock;
  const TimeNs begin_ns = clock.now_ns();
  waiter->wait(begin_ns, begin_ns + 2 * kNsPerMs);
  EXPECT_GE(clock.now_ns(), begin_ns + kNsPerMs);
  waiter->wait(10, 5);  // a time that is over already
}

// Each wake is seen: without a lost one the loop below ends (CTest's time limit is the watchdog).
TEST(EventfdWaiter, NoWakeIsLost) {
  constexpr int kRounds = 20'000;
  const auto waiter = EventfdWaiter::create().value();
  std::atomic<int> offered{0};
  std::atomic<int> taken{0};
  std::thread sender([&] {
    for (int i = 1; i <= kRounds; ++i) {
      offered.store(i, std::memory_order_relaxed);
      waiter->wake();
      while (i % 3 == 0 && taken.load(std::memory_order_relaxed) < i) std::this_thread::yield();
    }
  });
  while (taken.load(std::memory_order_relaxed) < kRounds) {
    taken.store(offered.load(std::memory_order_relaxed), std::memory_order_relaxed);
    if (taken.load(std::memory_order_relaxed) < kRounds) waiter->wait(0, kNever);
  }
  sender.join();
}

}  // namespace
}  // namespace kvtier
