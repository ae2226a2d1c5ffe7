#include "tests/sim/store_world.h"

#include <cstdlib>

#include "tests/support/store_checks.h"

namespace kvtier::test {

StoreOptions StoreWorld::options() {
  StoreOptions options;
  options.host_bytes = 64 * 64 * kKiB;
  options.slab_bytes = 64 * kKiB;
  options.low_water_blocks = static_cast<std::uint32_t>(chance_.below(8));
  options.seed = seed_;
  return options;
}

void StoreWorld::make_store() {
  Result<std::unique_ptr<Store>> store = Store::create(options(), clock_, fds_);
  ASSERT_TRUE(store.is_ok()) << store.status().to_string();
  store_ = std::move(store).value();
  on_made();
  for (int i = 0; i < 4; ++i) add_actor();
}

void StoreWorld::run(int steps) {
  make_store();
  for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
    Actor& actor = actors_[chance_.below(actors_.size())];
    step(actor);
    on_step(actors_[chance_.below(actors_.size())]);
    clock_.advance(chance_.below(2 * kNsPerMs));
    (void)store_->do_work();
    deliver();
    if (i % 64 == 0) check_store(*store_);
  }
  end_all();
}

void StoreWorld::add_actor() {
  Actor actor;
  const bool is_other = chance_.below(4) == 0;
  actor.client = std::make_unique<SimClient>(*store_, is_other ? "other" : "main", next_pid_++);
  const std::uint64_t bytes = chance_.below(3) == 0 ? 12 * kKiB - 8 : 4000;
  actor.space = actor.client->register_space(encoded_spec("m" + std::to_string(bytes), bytes));
  actors_.push_back(std::move(actor));
  deliver();
}

void StoreWorld::deliver() {
  std::vector<OutEvent> events;
  events.swap(store_->outbox());
  for (const OutEvent& event : events) {
    for (Actor& actor : actors_) {
      if (actor.client->session() == event.session && !actor.is_zombie) actor.client->on_event(event);
    }
  }
  for (Actor& actor : actors_) {
    EXPECT_FALSE(actor.client->is_ended()) << actor.client->end_reason();
    if (actor.answers && !actor.is_zombie) actor.client->acknowledge();
    collect(actor);
  }
}

void StoreWorld::collect(Actor& actor) {
  for (std::size_t i = 0; i < actor.reserves.size();) {
    if (!actor.client->is_answered(actor.reserves[i])) {
      ++i;
      continue;
    }
    for (const Reservation& each : actor.client->reserved(actor.reserves[i])) {
      if (each.result.code != Code::kOk) continue;
      actor.client->fill(each);
      actor.open.push_back(each);
    }
    actor.reserves.erase(actor.reserves.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void StoreWorld::reserve(Actor& actor) {
  if (actor.reserves.size() > 2) return;
  const std::uint64_t chain = chance_.below(kChains);
  const std::uint64_t first = chance_.below(6);
  std::vector<Key> keys(1 + chance_.below(24));
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = pattern_key(chain, first + i);
  const Key parent = first == 0 ? Key{} : pattern_key(chain, first - 1);
  actor.reserves.push_back(actor.client->reserve(actor.space, keys, parent, chance_.below(4) == 0));
  deliver();
}

void StoreWorld::take_from_stock(Actor& actor) {
  if (chance_.below(3) != 0)
    actor.client->refill(actor.space, 1 + static_cast<std::uint32_t>(chance_.below(kStockEntries)));
  const std::uint64_t chain = chance_.below(kChains);
  const std::uint64_t first = chance_.below(6);
  const std::uint64_t count = chance_.below(8);
  for (std::uint64_t i = first; i < first + count; ++i) {
    const Key parent = i == 0 ? Key{} : pattern_key(chain, i - 1);
    const std::optional<Reservation> taken = actor.client->take(actor.space, pattern_key(chain, i), parent);
    if (!taken) break;
    actor.client->fill(*taken);
    actor.open.push_back(*taken);
  }
  deliver();
}

void StoreWorld::end_some(Actor& actor, bool is_commit) {
  std::vector<Hold> holds;
  while (!actor.open.empty() && holds.size() < 16 && chance_.below(8) != 0) {
    const std::size_t at = is_commit ? 0 : actor.open.size() - 1;
    holds.push_back(actor.open[at].result.hold);
    actor.open.erase(actor.open.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (holds.empty()) return;
  is_commit ? actor.client->commit(holds) : actor.client->abort(holds);
  deliver();
}

void StoreWorld::lease(Actor& actor) {
  verify(actor);
  while (actor.leases.size() > 8) release(actor);
  const std::uint64_t chain = chance_.below(kChains);
  const std::uint64_t length = 1 + chance_.below(16);
  for (std::uint64_t i = 0; i < length; ++i) {
    std::optional<SimLease> lease = actor.client->acquire(actor.space, pattern_key(chain, i));
    if (!lease) break;
    actor.leases.push_back(*lease);
    actor.client->log_access(actor.space, lease->key, static_cast<std::uint16_t>(i + 1));
  }
  verify(actor);
}

void StoreWorld::release(Actor& actor) {
  SimClient::release(actor.leases.back());
  actor.leases.pop_back();
}

void StoreWorld::verify(const Actor& actor) {
  for (const SimLease& lease : actor.leases) {
    ASSERT_EQ(check_pattern(lease.key, lease.bytes), lease.bytes.size()) << "wrong bytes under a lease";
  }
}

void StoreWorld::invalidate(Actor& actor) {
  if (chance_.below(10) != 0) return;
  (void)actor.client->simple(Op::kInvalidate, actor.space, {});
}

void StoreWorld::pin(Actor& actor) {
  std::vector<Key> keys(4);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = pattern_key(chance_.below(kChains), i);
  const Op op = chance_.below(2) == 0 ? Op::kPin : Op::kUnpin;
  (void)actor.client->simple(op, actor.space, keys, 5 * kNsPerMs);
}

void StoreWorld::hang_up(Actor& actor) {
  store_->session_hang_up(actor.client->session());
  actor.is_zombie = true;
  EXPECT_FALSE(actor.client->take(actor.space, pattern_key(0, 0), {}).has_value());
}

void StoreWorld::kill(Actor& actor) {
  verify(actor);
  store_->session_exited(actor.client->session());
  actor = std::move(actors_.back());
  actors_.pop_back();
  add_actor();
}

void StoreWorld::step(Actor& actor) {
  if (actor.is_zombie) return kill(actor);
  switch (chance_.below(28)) {
    case 0:
      return chance_.below(6) == 0 ? kill(actor) : void();
    case 1:
      return chance_.below(6) == 0 ? hang_up(actor) : void();
    case 2:
      actor.answers = chance_.below(4) != 0;
      return;
    case 3:
      return invalidate(actor);
    case 4:
      return pin(actor);
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      return reserve(actor);
    case 10:
    case 11:
      return end_some(actor, false);
    case 12:
    case 13:
    case 14:
    case 15:
      return end_some(actor, true);
    case 16:
    case 17:
    case 18:
      return take_from_stock(actor);
    default:
      return lease(actor);
  }
}

void StoreWorld::settle() {
  for (int i = 0; i < 64; ++i) {
    clock_.advance(10 * kNsPerMs);
    (void)store_->do_work();
  }
}

void StoreWorld::end_actors() {
  for (Actor& actor : actors_) {
    verify(actor);
    store_->session_exited(actor.client->session());
  }
  actors_.clear();
}

void StoreWorld::end_all() {
  end_actors();
  on_end();
  settle();
  const StoreStats& stats = store_->stats();
  EXPECT_EQ(stats.blocks_writing + stats.slots_quarantined + stats.blocks_draining + stats.slots_stocked +
                stats.sessions,
            0U);
  EXPECT_EQ(stats.waits_open + stats.reserves_deferred + stats.zombies + stats.blocks_pinned, 0U);
  check_store(*store_);
  seen_ = stats;
}

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace

bool for_each_seed(std::uint64_t seeds_default, const std::function<void(std::uint64_t)>& on_seed) {
  const std::uint64_t one = from_environment("KVTIER_SIM_SEED", 0);
  const std::uint64_t seeds = one != 0 ? 1 : from_environment("KVTIER_SIM_SEEDS", seeds_default);
  for (std::uint64_t i = 0; i < seeds && !::testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = one != 0 ? one : i + 1;
    SCOPED_TRACE("KVTIER_SIM_SEED=" + std::to_string(seed));
    on_seed(seed);
  }
  return one == 0 && seeds >= seeds_default && !::testing::Test::HasFailure();
}

}  // namespace kvtier::test
