#pragma once
// A store in memory with clients of the simulation: one thread, simulated time, nothing random.

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "libkvclient/base/units.h"
#include "tests/support/memory_fd_store.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"
#include "tests/support/store_checks.h"

namespace kvtier::test {

inline constexpr std::uint64_t kBlock = 4096;  ///< one slot

class StoreFixture : public ::testing::Test {
 protected:
  /// `slots` blocks of kBlock, four a slab, no background eviction.
  void make_store(std::uint64_t slots) { make_store(slots, {}); }
  void make_store(std::uint64_t slots, StoreOptions options);
  void TearDown() override;

  SimClient& add_client(const std::string& namespace_name = "main", std::uint32_t pid = 0);
  /// Registers the usual spec for a client.
  static SpaceId usual_space(SimClient& client) { return client.register_space(encoded_spec("m", kBlock)); }
  void end_process(SimClient& client);

  /// Hands out all answers, and answers revocations for clients in `answering_`.
  void deliver();
  /// Works until nothing is left to do at this time.
  void settle();
  void advance(TimeNs ns);
  /// Until what is there is told by its age from what comes now.
  void let_age() { advance(20 * kNsPerSecond); }

  /// Reserves and delivers; the request must be answered at once.
  std::vector<Reservation> reserve(SimClient& client, SpaceId space, const std::vector<Key>& keys,
                                   bool is_all_or_nothing = false, const Key& parent = {});
  Completion last_completion_{};
  /// Fills and commits what was granted.
  void commit(SimClient& client, const std::vector<Reservation>& reservations);
  /// Reserve, fill, commit: every key must be new.
  void put(SimClient& client, SpaceId space, const std::vector<Key>& keys);
  /// The same with each key under the one before it, any number of them.
  void put_chain(SimClient& client, SpaceId space, const std::vector<Key>& keys);
  Completion call(SimClient& client, Op op, SpaceId space, const std::vector<Key>& keys,
                  std::uint64_t argument = 0, TimeNs deadline_ns = 0);
  static std::size_t count_ready(SimClient& client, SpaceId space, const std::vector<Key>& keys);
  static void expect_exact(const SimLease& lease) {
    EXPECT_EQ(check_pattern(lease.key, lease.bytes), lease.bytes.size());
  }
  [[nodiscard]] const StoreStats& stats() const { return store_->stats(); }

  ManualClock clock_;
  MemoryFdStore fds_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<SimClient>> clients_;
  bool answers_revocations_ = true;
  std::uint32_t next_pid_ = 1000;
};

}  // namespace kvtier::test
