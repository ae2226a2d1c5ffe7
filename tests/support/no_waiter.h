#pragma once
// A waiter for agents that a test runs by hand: nobody sleeps, wakes are counted.

#include "daemon/agent/agent.h"

namespace kvtier::test {

class NoWaiter final : public Waiter {
 public:
  void wait(TimeNs, TimeNs) override {}
  void wake() override { ++wakes; }
  int wakes = 0;
};

}  // namespace kvtier::test
