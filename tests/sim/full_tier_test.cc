// A store and the whole NVMe tier below it, on a simulated disk that is smaller than what is stored: what stays, what it
// costs in writes, and that it ends when nobody asks for anything. One thread, time by hand.

#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlabs = 4;  // that the world's agent knows
constexpr std::uint64_t kSlots = 256;
constexpr std::uint64_t kOverfull = 8 * kSlots;  // more than any of these disks takes

class FullTier : public StoreFixture {
 protected:
  void open(std::size_t segments) { open({.segments = segments}, 0, false); }
  /// `blocks_max`: 0 for the usual. `is_known`: the space of before is named again.
  void open(const TierWorldOptions& options, std::uint32_t blocks_max, bool is_known) {
    world_ = std::make_unique<TierWorld>(disk_, options);
    world_->is_receiving = false;  // the store does
    StoreOptions store{.slab_bytes = kSlots / kSlabs * kBlock, .disk = &world_->port()};
    if (blocks_max != 0) store.blocks_max = blocks_max;
    make_store(kSlots, store);
    if (is_known) {
      ASSERT_TRUE(store_->disk_space("main", encoded_spec("m", kBlock)).is_ok());
    }
    store_->disk_open();
    for (int i = 0; i < 10'000 && !store_->disk_is_known(); ++i) turn_apart();
    ASSERT_TRUE(store_->disk_is_known()) << "the two wait for each other";
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void TearDown() override { close(); }
  void close() {
    store_->disk_close();
    for (int i = 0; i < 100'000 && !store_->disk_is_over(); ++i) turn();
    EXPECT_TRUE(store_->disk_is_over());
    StoreFixture::TearDown();
    clients_.clear();
    store_.reset();
  }

  /// A round of both ends.
  void turn() {
    deliver();
    (void)store_->do_work();
    world_->step();
    clock_.advance(world_->clock().now_ns() - clock_.now_ns());
  }
  /// Each end for a while without the other: what lies between them fills up.
  void turn_apart() {
    for (int i = 0; i < 64; ++i) world_->step();
    clock_.advance(world_->clock().now_ns() - clock_.now_ns());
    for (int i = 0; i < 64; ++i) {
      deliver();
      (void)store_->do_work();
    }
  }
  void work(TimeNs ns) {
    for (const TimeNs until = clock_.now_ns() + ns; clock_.now_ns() < until;) {
      turn();
      world_->clock().advance(20 * kNsPerUs);
    }
  }
  /// Stores the blocks `first` to `first + count` of a chain, each on its own, as fast as the disk takes them.
  void stream(std::uint64_t chain, std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) {
      const std::uint32_t request = client_->reserve(space_, keys_of(chain, 1, i), {});
      for (int turns = 0; turns < 100'000 && !client_->is_answered(request); ++turns) turn();
      ASSERT_TRUE(client_->is_answered(request));
      ASSERT_EQ(client_->completion(request).code, Code::kOk);
      commit(*client_, client_->reserved(request));
      turn();
    }
    work(20 * kNsPerMs);
  }
  void read(const Key& key) {
    (void)client_->simple(Op::kRestore, space_, {key});
    work(5 * kNsPerMs);
    std::optional<SimLease> lease = client_->acquire(space_, key);
    if (!lease.has_value()) return;
    expect_exact(*lease);
    SimClient::release(*lease);
    client_->log_access(space_, key, 1);
    work(kNsPerMs);
  }
  std::size_t count_there(std::uint64_t chain, std::uint64_t first, std::uint64_t count) {
    std::size_t there = 0;
    for (const Key& key : keys_of(chain, count, first)) there += client_->match(space_, key) != 0 ? 1 : 0;
    return there;
  }
  std::vector<int> states_of(const std::vector<Key>& keys) {
    std::vector<int> states;
    for (const Key& key : keys) states.push_back(client_->match(space_, key));
    return states;
  }
  [[nodiscard]] DiskStats tier() { return world_->agent().snapshot().read().stats; }
  [[nodiscard]] std::uint64_t copies() const { return store_->stats().blocks_cold; }

  SimDisk disk_{1};
  std::unique_ptr<TierWorld> world_;
  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

// A full tier wrote 870 MB/s for as long as nobody did anything: what it took cost it a copy of a block in memory, whose
// turn then came again.
TEST_F(FullTier, NobodyStoresAndNothingIsWritten) {
  open(4);
  stream(1, 0, kOverfull);
  work(kNsPerSecond);
  const DiskStats before = tier();
  EXPECT_GT(before.segments_reclaimed, 0U);
  EXPECT_GT(before.blocks_dropped, 0U);
  work(5 * kNsPerSecond);
  const DiskStats after = tier();
  EXPECT_EQ(after.puts, before.puts);
  EXPECT_EQ(after.bytes_written_total(), before.bytes_written_total());
}

// It kept what came first, and put what came later in the same two or three segments over and over.
TEST_F(FullTier, TheNewestAreThereAndWhatWasReadOnceIsNot) {
  open(32);
  stream(1, 0, kOverfull);
  const std::uint64_t capacity = copies();
  ASSERT_GT(capacity, kSlots);
  const Key once = keys_of(1, 1, kOverfull - kSlots - 64)[0];
  const Key often = keys_of(1, 1, kOverfull - kSlots - 65)[0];
  ASSERT_EQ(states_of({once, often}), (std::vector<int>{3, 3}));
  read(once);
  const DiskStats before = tier();
  const std::uint64_t stored = 8 * capacity;
  for (std::uint64_t i = 0; i < stored; i += 64) {
    stream(2, i, 64);
    read(often);
    ASSERT_NE(client_->match(space_, often), 0) << "read again and again, lost after " << i;
    work(kNsPerSecond);
  }
  EXPECT_EQ(client_->match(space_, once), 0);
  EXPECT_EQ(count_there(1, 0, kOverfull), 1U) << "the one that is read";
  const std::uint64_t newest = capacity / 2;
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  EXPECT_EQ(count_there(2, stored - newest, newest), newest);
  const DiskStats after = tier();
  const double puts = static_cast<double>(after.puts - before.puts);
  const double moves = static_cast<double>(after.blocks_moved - before.blocks_moved);
  RecordProperty("moves_to_puts", std::to_string(moves / puts));
  RecordProperty("write_amplification", std::to_string(after.write_amplification()));
  EXPECT_LT(moves, puts) << "a reclaim keeps half a segment at most";
}

// All of it is read all the time: half a segment is kept, so new blocks find their place.
TEST_F(FullTier, ATierFullOfUsedBlocksTakesNewOnes) {
  open(16);
  stream(1, 0, kOverfull);
  ASSERT_GT(tier().segments_reclaimed, 0U);
  const std::uint64_t capacity = copies();
  const DiskStats before = tier();
  for (std::uint64_t i = 0; i < 4 * capacity / 32; ++i) {
    for (std::uint64_t j = 0; j < kOverfull; j += 8) {
      if (const Key key = keys_of(1, 1, j)[0]; client_->match(space_, key) == 3) read(key);
    }
    stream(2, 32 * i, 32);
  }
  EXPECT_GT(count_there(2, 0, 4 * capacity), capacity / 2);
  const DiskStats after = tier();
  const double puts = static_cast<double>(after.puts - before.puts);
  const double moves = static_cast<double>(after.blocks_moved - before.blocks_moved);
  RecordProperty("moves_to_puts", std::to_string(moves / puts));
  EXPECT_LE(moves, puts);
}

// More copies than all queues between the two hold, and no place for them, or no name: both ends waited for each other
// for ever, and with `recover: before_ready` the daemon with them.
TEST_F(FullTier, AStartThatRefusesMoreThanAllQueuesHoldEnds) {
  constexpr std::uint64_t kMany = 2 * kDiskNewsMax + kDiskCommandsMax + kDiskForgetsMax;
  const TierWorldOptions large{.segments = 30, .segment_bytes = 4 * kMiB};
  open(large, 2 * kMany, false);
  stream(1, 0, kMany);
  ASSERT_EQ(tier().segments_reclaimed, 0U);
  close();
  const std::uint64_t on_disk = tier().puts;
  ASSERT_GT(on_disk, kMany - kSlots - 1);

  open(large, 2 * kSlots, true);  // the index is small
  EXPECT_EQ(store_->stats().disk_refused + store_->stats().disk_recovered, on_disk);
  EXPECT_GT(store_->stats().disk_recovered, 0U);
  work(20 * kNsPerMs);
  EXPECT_EQ(world_->agent().snapshot().read().stats.recovered_blocks, on_disk);
  close();

  open(large, 2 * kMany, false);  // nothing says whose they are
  EXPECT_EQ(store_->stats().disk_refused, on_disk);
}

}  // namespace
}  // namespace kvtier::test
