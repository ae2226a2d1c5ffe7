#pragma once
// A store that dies where it stands and is started anew over the memory that a descriptor store kept, and one client
// that lives through it. One thread, simulated time.

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "tests/support/memory_fd_store.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"
#include "tests/support/store_checks.h"

namespace kvtier::test {

class RestartFixture : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kClientPid = 100;

  explicit RestartFixture(const StoreOptions& options) : options_(options) {}
  void SetUp() override;

  void restart();
  /// The same; not warm is a failure.
  void restart_warm();
  /// The client takes up its session in the new store and hears what waits for it. Its spaces are not registered yet.
  void resume();

  void deliver(SimClient& client);
  void deliver() { deliver(*client_); }
  /// Works until nothing is left to do at this time, and delivers.
  void settle();
  /// The answer, which must be there at once.
  std::vector<Reservation> reserve(SpaceId space, const std::vector<Key>& keys);
  /// Takes the checksums that are due, and verifies what was adopted.
  void sum_all();
  /// Every slot can be had. The space's blocks must fill one each.
  void expect_no_leak(SpaceId space);

  StoreOptions options_;
  ManualClock clock_;
  MemoryFdStore fds_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SimClient> client_;
};

}  // namespace kvtier::test
