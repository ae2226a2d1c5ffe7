// Random clients against the store beside an NVMe tier that answers late, in any order, wrongly, or holds on to slots,
// and whose reclaim asks, moves and drops. No lease holds wrong bytes, no slot leaks, each copy that the tier told of is
// named by one block or was forgotten once. KVTIER_SIM_SEED replays one seed, KVTIER_SIM_SEEDS runs so many.

#include "daemon/flow/state.h"
#include "tests/sim/store_world.h"
#include "tests/support/fake_disk_port.h"

namespace kvtier::test {
namespace {

class TieredWorld : public StoreWorld {
 public:
  TieredWorld(std::uint64_t seed, FakeDisk& disk) : StoreWorld(seed), disk_(disk) {
    port_.is_automatic = false;
    port_.chance = &chance_;
    port_.commands_max = 8 + chance_.below(64);
    port_.entries_at_once = 1 + chance_.below(32);
    port_.ending = [this](const DiskCommand&) { return ending(); };
  }
  ~TieredWorld() override { store_.reset(); }

 protected:
  StoreOptions options() override {
    StoreOptions options = StoreWorld::options();
    options.disk = &port_;
    options.disk_write = chance_.below(3) == 0 ? DiskWrite::kThrough : DiskWrite::kBack;
    options.disk_wait_ns = chance_.below(3) * 5 * kNsPerMs;
    options.blocks_max = static_cast<std::uint32_t>(768 + chance_.below(768));
    return options;
  }

  void on_made() override {
    for (const auto& [name, encodings] : disk_.catalog) {
      for (const auto& encoding : encodings) EXPECT_TRUE(store_->disk_space(name, encoding).is_ok());
    }
    store_->disk_open();
  }

  void on_step(Actor& actor) override {
    if (chance_.below(3) == 0) port_.answer(1 + chance_.below(16));
    switch (chance_.below(40)) {
      case 0:
        port_.takes_puts_now = chance_.below(4) != 0;
        port_.wants_evidence_now = chance_.below(10) == 0;
        return;
      case 1:
      case 2:
        return port_.release();
      case 3:
        return reclaim();
      case 4:
        is_troubled_ = chance_.below(2) == 0;
        return;
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return restore(actor);
      case 11:
        return sum();
      default:
        return;
    }
  }

  void on_end() override {
    port_.is_automatic = true;
    port_.chance = nullptr;
    port_.ending = nullptr;
    port_.commands_max = 4096;
    port_.takes_puts_now = true;
    port_.wants_evidence_now = false;
    port_.release();
    for (int i = 0; i < 8; ++i) settle();
    expect_balance();
  }

 private:
  FakeDiskPort::Ending ending() {
    if (!is_troubled_) return {};
    switch (chance_.below(10)) {
      case 0:
        return {.code = Code::kSystem};
      case 1:
        return {.code = Code::kDeadline, .is_held = true};
      case 2:
        return {.code = Code::kCorrupt, .is_dropped = true};
      case 3:
        return {.is_held = true};
      default:
        return {};
    }
  }

  void restore(Actor& actor) {
    if (actor.is_zombie) return;
    const std::uint64_t chain = chance_.below(kChains);
    std::vector<Key> keys(1 + chance_.below(24));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = pattern_key(chain, i);
    (void)actor.client->simple(Op::kRestore, actor.space, keys, 0, 0);
    if (chance_.below(2) == 0)
      (void)actor.client->simple(Op::kWait, actor.space, keys, 0, clock_.now_ns() + 20 * kNsPerMs);
  }

  void sum() {
    while (const std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 1);
  }

  void reclaim() {
    if (!port_.is_ready() || disk_.copies.empty()) return;
    auto copy = disk_.copies.begin();
    std::advance(copy, static_cast<std::ptrdiff_t>(chance_.below(disk_.copies.size())));
    const std::uint64_t sequence = copy->first;
    if (!port_.is_known(sequence)) return;
    switch (chance_.below(3)) {
      case 0:
        return port_.ask(sequence, ++questions_);
      case 1:
        return port_.move(sequence);
      default:
        return port_.drop(sequence);
    }
  }

  void expect_balance() {
    std::set<std::uint64_t> named;
    StoreState& state = store_->state();
    ASSERT_EQ(state.disk->life, DiskTier::Life::kReady);
    for (std::uint32_t i = 0; i < state.blocks.limit(); ++i) {
      const BlockRecord& record = state.blocks[BlockId{i}];
      if (record.state == BlockState::kFree || (record.flags & kBlockOnDisk) == 0) continue;
      EXPECT_TRUE(named.insert(state.disk->locators[i].sequence).second) << "one copy, two blocks";
    }
    EXPECT_TRUE(named == port_.owned())
        << named.size() << " copies are named, " << port_.owned().size() << " are not forgotten";
    EXPECT_EQ(state.disk->restores.size(), 0U);
    EXPECT_EQ(state.disk->puts_open, 0U);
    EXPECT_EQ(port_.answers.size(), questions_) << "each question is answered";
  }

  FakeDisk& disk_;
  FakeDiskPort port_{disk_};
  bool is_troubled_ = false;
  std::uint64_t questions_ = 0;
};

void add(StoreStats& sum, const StoreStats& one) {
  sum.demotions += one.demotions;
  sum.demotions_failed += one.demotions_failed;
  sum.restores += one.restores;
  sum.restores_failed += one.restores_failed;
  sum.restored_bytes += one.restored_bytes;
  sum.evictions_unsaved += one.evictions_unsaved;
  sum.evictions_invalidated += one.evictions_invalidated;
  sum.cold_dropped += one.cold_dropped;
  sum.disk_lost += one.disk_lost;
  sum.disk_recovered += one.disk_recovered;
  sum.slab_retirements += one.slab_retirements;
}

TEST(TieredWorld, NoWrongBytesNoLeaksEachCopyForgottenOnce) {
  StoreStats sum;
  const bool is_whole = for_each_seed(40, [&](std::uint64_t seed) {
    FakeDisk disk;
    // Two lives of one disk.
    for (std::uint64_t life = 0; life < 2 && !HasFailure(); ++life) {
      TieredWorld world(2 * seed + life, disk);
      world.run(1500);
      add(sum, world.seen_);
    }
  });
  if (!is_whole) return;
  EXPECT_GT(sum.demotions, 1000U);
  EXPECT_GT(sum.demotions_failed, 100U);
  EXPECT_GT(sum.restores, 1000U);
  EXPECT_GT(sum.restores_failed, 100U);
  EXPECT_GT(sum.restored_bytes, 1U << 20);
  EXPECT_GT(sum.evictions_unsaved, 100U);
  EXPECT_GT(sum.evictions_invalidated, 100U);
  EXPECT_GT(sum.cold_dropped, 10U);
  EXPECT_GT(sum.disk_lost, 10U);
  EXPECT_GT(sum.disk_recovered, 100U);
  EXPECT_GT(sum.slab_retirements, 1U);
}

}  // namespace
}  // namespace kvtier::test
