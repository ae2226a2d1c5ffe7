// A directory grows in bounded steps. In between every verb is answered, clients find what is there and nothing
// else, and the larger directory takes over with all of it.

#include "daemon/flow/state.h"
#include "daemon/flow/unpublish.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlots = 16384;
constexpr std::size_t kFull = 3584;  ///< slots beyond which the first directory, of 4096 entries, grows

class DirectoryGrowth : public StoreFixture {
 protected:
  DirectoryGrowth() {
    make_store(kSlots, {.slab_bytes = 512 * kBlock});
    client_ = &add_client();
    space_ = usual_space(*client_);
  }

  Directory& directory() { return store_->state().tenants[0].directory; }

  /// Reserve, fill, commit, without a turn of do_work. Returns how many were granted.
  std::size_t put_now(const std::vector<Key>& keys) {
    std::size_t granted = 0;
    for (std::size_t at = 0; at < keys.size(); at += 512) {
      const auto end = keys.begin() + static_cast<std::ptrdiff_t>(std::min(keys.size(), at + 512));
      const std::uint32_t request =
          client_->reserve(space_, {keys.begin() + static_cast<std::ptrdiff_t>(at), end}, Key{});
      deliver();
      const std::vector<Reservation> reservations = client_->reserved(request);
      granted += holds_of(reservations).size();
      commit(*client_, reservations);
    }
    return granted;
  }
  void abort_now(const Key& key) {
    const std::uint32_t request = client_->reserve(space_, {key}, Key{});
    deliver();
    client_->abort(holds_of(client_->reserved(request)));
  }
  void drop(const Key& key) {
    StoreState& state = store_->state();
    block_drop(state, state.index->find(NamespaceId{0}, space_, key));
  }
  bool is_ready(const Key& key) { return client_->match(space_, key) == 1; }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(DirectoryGrowth, steps_are_bounded_and_verbs_are_answered_in_between) {
  const std::vector<Key> before = keys_of(1, kFull);
  EXPECT_EQ(put_now(before), kFull);
  ASSERT_FALSE(directory().is_growing());
  ASSERT_EQ(put_now(keys_of(2, 1)), 1U);
  ASSERT_TRUE(directory().is_growing());
  std::size_t steps = 0;
  while (directory().is_growing()) {
    const std::uint64_t left = directory().growth_left();
    EXPECT_EQ(store_->do_work(), 1U);
    ++steps;
    if (directory().is_growing()) {
      EXPECT_LE(left - directory().growth_left(), Directory::kStepEntries);
    }
    EXPECT_TRUE(is_ready(before[steps])) << "readers go on";
    EXPECT_EQ(put_now(keys_of(3, 1, steps)), 1U) << "writers too";
    EXPECT_TRUE(is_ready(pattern_key(3, steps)));
    abort_now(pattern_key(4, steps));
    EXPECT_FALSE(is_ready(pattern_key(4, steps)));
    std::optional<SimLease> lease = client_->acquire(space_, before[steps]);
    ASSERT_TRUE(lease.has_value());
    expect_exact(*lease);
    SimClient::release(*lease);
  }
  EXPECT_GE(steps, kFull / Directory::kStepEntries);
  EXPECT_EQ(stats().directory_grows, 1U);
  EXPECT_EQ(directory().capacity(), 8192U);
  EXPECT_EQ(count_ready(*client_, space_, before), kFull);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(3, steps, 1)), steps);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(4, steps, 1)), 0U);
}

TEST_F(DirectoryGrowth, who_fills_it_pays_when_nobody_else_works) {
  EXPECT_EQ(put_now(keys_of(1, kSlots)), kSlots) << "it was never full";
  EXPECT_GE(stats().directory_grows, 2U);
  EXPECT_EQ(directory().capacity(), kSlots) << "never more than the tier has slots";
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, kSlots)), kSlots);
}

TEST_F(DirectoryGrowth, changes_on_both_sides_of_the_copy_arrive) {
  std::vector<Key> keys = keys_of(1, kFull);
  EXPECT_EQ(put_now(keys), kFull);
  ASSERT_EQ(put_now(keys_of(2, 1)), 1U);
  Prng chance(3);
  std::uint64_t next = kFull;
  while (directory().is_growing()) {
    for (int i = 0; i < 32; ++i) {
      Key& key = keys[chance.below(keys.size())];
      drop(key);
      EXPECT_FALSE(is_ready(key));
      key = pattern_key(1, next++);  // takes the entry that became free
      EXPECT_EQ(put_now({key}), 1U);
    }
    (void)store_->do_work();
  }
  EXPECT_EQ(count_ready(*client_, space_, keys), keys.size());
  EXPECT_EQ(directory().size(), keys.size() + 1);
}

TEST_F(DirectoryGrowth, an_adopted_block_is_not_in_it_before_its_checksum_matched) {
  const std::vector<Key> keys = keys_of(1, 10);
  EXPECT_EQ(put_now(keys), keys.size());
  advance(2 * kNsPerSecond);
  const auto sum_all = [&] {
    while (std::optional<ChecksumJob> job = store_->checksum_next()) store_->checksum_done(*job, 42);
  };
  sum_all();
  end_process(*client_);
  store_.reset();
  make_store(kSlots, {.slab_bytes = 512 * kBlock});
  ASSERT_EQ(store_->cold_reason(), "");
  client_ = &add_client();
  space_ = usual_space(*client_);
  ASSERT_EQ(store_->unverified_count(), keys.size());
  EXPECT_EQ(put_now(keys_of(2, kFull)), kFull);
  while (directory().is_growing()) (void)store_->do_work();
  ASSERT_EQ(stats().directory_grows, 1U);
  EXPECT_EQ(count_ready(*client_, space_, keys), 0U) << "nobody has seen their bytes yet";
  sum_all();
  EXPECT_EQ(count_ready(*client_, space_, keys), keys.size());
}

/// Keeps nothing and says so when told to.
class RefusingFdStore final : public FdStore {
 public:
  Status put(std::string_view, int) override {
    return is_refusing ? Status(Code::kUnavailable, "told to") : Status::ok();
  }
  void remove(std::string_view) override {}
  std::vector<StoredFd> take_all() override { return {}; }
  [[nodiscard]] std::string_view kind() const override { return "refusing"; }

  bool is_refusing = false;
};

TEST_F(DirectoryGrowth, a_refused_one_leaves_the_old_directory_and_is_tried_again) {
  RefusingFdStore fds;
  clients_.clear();
  store_ = Store::create(
               {.host_bytes = kSlots * kBlock, .slab_bytes = 512 * kBlock, .low_water_blocks = 0, .seed = 1},
               clock_, fds)
               .value();
  client_ = &add_client();
  space_ = usual_space(*client_);
  EXPECT_EQ(put_now(keys_of(1, kFull)), kFull);
  fds.is_refusing = true;
  EXPECT_EQ(put_now(keys_of(2, 1)), 1U);
  while (directory().is_growing()) (void)store_->do_work();
  EXPECT_EQ(stats().directory_grows_failed, 1U);
  EXPECT_EQ(directory().capacity(), 4096U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, kFull)), kFull);
  fds.is_refusing = false;
  EXPECT_EQ(put_now(keys_of(3, 600)), 600U) << "the next slab tries again";
  while (directory().is_growing()) (void)store_->do_work();
  EXPECT_EQ(stats().directory_grows, 1U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, kFull)), kFull);
  settle();
  check_store(*store_);
  clients_.clear();
  store_.reset();  // before its descriptor store
}

}  // namespace
}  // namespace kvtier::test
