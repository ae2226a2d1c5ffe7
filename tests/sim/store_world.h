#pragma once
// The store under random clients, simulated time, one thread, one seed: reserve, take from the stock, fill, commit, abort,
// lease, die, hang up, answer late or never. After every step no lease holds other bytes than its key's; at rest all
// parts agree; when every process is gone nothing is held. A world with more in it overrides the hooks.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "daemon/flow/stats.h"
#include "libkvclient/base/prng.h"
#include "libkvclient/base/units.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"

namespace kvtier::test {

struct Actor {
  std::unique_ptr<SimClient> client;
  SpaceId space = SpaceId::kNone;
  std::vector<std::uint32_t> reserves;
  std::vector<Reservation> open;
  std::vector<SimLease> leases;
  bool answers = true;  // to revocations
  bool is_zombie = false;
};

class StoreWorld {
 public:
  static constexpr std::uint64_t kChains = 24;

  explicit StoreWorld(std::uint64_t seed) : chance_(seed), seed_(seed) {}
  virtual ~StoreWorld() = default;
  StoreWorld(const StoreWorld&) = delete;
  StoreWorld& operator=(const StoreWorld&) = delete;

  void run(int steps);
  StoreStats seen_;  ///< after run()

 protected:
  virtual StoreOptions options();
  /// After the store was made.
  virtual void on_made() {}
  /// Before each turn of the store.
  virtual void on_step(Actor&) {}
  /// Nobody is there any more: what is under way is to end.
  virtual void on_end() {}

  void make_store();
  void settle();
  void end_actors();

  Prng chance_;
  const std::uint64_t seed_;
  ManualClock clock_;
  NoFdStore fds_;
  std::unique_ptr<Store> store_;
  std::vector<Actor> actors_;

 private:
  void add_actor();
  void deliver();
  static void collect(Actor& actor);
  void step(Actor& actor);
  void reserve(Actor& actor);
  void take_from_stock(Actor& actor);
  void end_some(Actor& actor, bool is_commit);
  void lease(Actor& actor);
  static void release(Actor& actor);
  static void verify(const Actor& actor);
  void invalidate(Actor& actor);
  void pin(Actor& actor);
  void hang_up(Actor& actor);
  void kill(Actor& actor);
  void end_all();

  std::uint32_t next_pid_ = 100;
};

/// KVTIER_SIM_SEED replays one seed, KVTIER_SIM_SEEDS runs so many: calls on_seed for each, and says whether they are all
/// that a test is to judge by.
bool for_each_seed(std::uint64_t seeds_default, const std::function<void(std::uint64_t)>& on_seed);

}  // namespace kvtier::test
