// kvctl evict and kvctl flush (F-03): bounded steps, children first, whatever happens between two steps.

#include <functional>

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kStepEvictions = 16;
constexpr std::uint32_t kStepWork = kStepEvictions * kEvictionWork;

class AdminEvict : public StoreFixture {
 protected:
  void set_up(std::uint64_t slots) {
    make_store(slots);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void put_below(const Key& parent, const std::vector<Key>& keys) {
    commit(*client_, reserve(*client_, space_, keys, true, parent));
  }
  // Every key alone below the parent.
  void put_star(const Key& parent, const std::vector<Key>& keys) {
    for (const Key& key : keys) put_below(parent, {key});
  }
  static EvictTarget below(const Key& key) { return {{}, to_hex(key)}; }

  EvictReport step(const EvictTarget& target, const EvictCursor& from) {
    const EvictReport report = store_->admin().evict(target, from, kStepWork);
    EXPECT_LE(report.evicted, kStepEvictions + 1) << "a step is bounded";
    return report;
  }
  // All steps, with something in between.
  EvictReport evict(
      const EvictTarget& target, const std::function<void()>& between = [] {}) {
    EvictReport total;
    EvictCursor from;
    while (true) {
      const EvictReport report = step(target, from);
      total.add(report);
      if (!report.next) return total;
      from = *report.next;
      between();
    }
  }
  SimLease lease(const Key& key) {
    std::optional<SimLease> lease = client_->acquire(space_, key);
    EXPECT_TRUE(lease.has_value());
    return lease.value_or(SimLease{});
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(AdminEvict, F_03_a_deep_chain_goes_from_its_end_in_bounded_steps) {
  set_up(8192);
  put_chain(*client_, space_, keys_of(1, 8000));
  EXPECT_EQ(evict(below(pattern_key(1, 10))).evicted, 7990U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 8000)), 10U);
}

TEST_F(AdminEvict, F_03_a_wide_level_goes_in_bounded_steps) {
  set_up(4096);
  put(*client_, space_, keys_of(1, 2));
  put_star(pattern_key(1, 1), keys_of(2, 3000));
  put_below(pattern_key(2, 7), keys_of(3, 100));
  EXPECT_EQ(evict(below(pattern_key(1, 1))).evicted, 3101U);
  EXPECT_EQ(stats().blocks_ready, 1U);
}

TEST_F(AdminEvict, F_03_flush_takes_everything_whatever_the_order_of_the_records) {
  set_up(2048);
  put(*client_, space_, keys_of(1, 500));
  // Records that come round again: children in front of their parents in the table.
  EXPECT_EQ(evict(below(pattern_key(1, 200))).evicted, 300U);
  for (std::uint64_t i = 0; i < 300; ++i) put_below(pattern_key(4, i - 1), {pattern_key(4, i)});
  put_star(pattern_key(1, 3), keys_of(5, 400));
  EXPECT_EQ(evict({}).evicted, 900U);
  EXPECT_EQ(stats().blocks_ready, 0U);
}

TEST_F(AdminEvict, F_03_what_is_leased_keeps_its_ancestors_and_nothing_else) {
  set_up(256);
  put(*client_, space_, keys_of(1, 20));
  put_below(pattern_key(1, 4), keys_of(2, 20));
  put_below(pattern_key(1, 4), keys_of(3, 20));
  SimLease held = lease(pattern_key(2, 9));
  const EvictReport report = evict(below(pattern_key(1, 0)));
  EXPECT_EQ(report.evicted, 15U + 10U + 20U);
  EXPECT_EQ(report.kept.leased, 1U);
  EXPECT_EQ(report.kept.parents, 14U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 20)), 5U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(2, 20)), 10U);
  const EvictReport again = evict({});
  EXPECT_EQ(again.evicted, 0U);
  EXPECT_EQ(again.kept.leased, 1U);
  EXPECT_EQ(again.kept.parents, 14U);
  expect_exact(held);
  SimClient::release(held);
  EXPECT_EQ(evict({}).evicted, 15U);
}

// A pinned leaf keeps the path to it: each block counts, under its own reason, whichever way it is evicted.
TEST_F(AdminEvict, F_03_every_block_that_stays_is_counted_once) {
  set_up(2048);
  put(*client_, space_, keys_of(1, 900));
  put_below(pattern_key(1, 99), keys_of(2, 50));
  (void)call(*client_, Op::kPin, space_, {pattern_key(1, 203)}, kNsPerSecond);
  (void)call(*client_, Op::kPin, space_, {pattern_key(1, 100)}, kNsPerSecond);
  SimLease inner = lease(pattern_key(1, 50));
  SimLease leaf = lease(pattern_key(2, 49));
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(3, 2), false, pattern_key(1, 10));
  const EvictReport flushed = evict({});
  EXPECT_EQ(flushed.evicted, 696U);
  for (const EvictReport& report : {flushed, evict(below(pattern_key(1, 0)))}) {
    EXPECT_EQ(report.kept.pinned, 2U) << "one of them above the other";
    EXPECT_EQ(report.kept.leased, 2U) << "one of them above the other";
    EXPECT_EQ(report.kept.writing, 2U);
    EXPECT_EQ(report.kept.parents, 204U - 3U + 49U);
    EXPECT_EQ(report.kept.other, 0U);
    EXPECT_EQ(report.kept.total(), stats().blocks_ready + stats().blocks_writing);
  }
  commit(*client_, open);
  SimClient::release(inner);
  SimClient::release(leaf);
  EXPECT_EQ(evict({}).kept.total(), 204U) << "the path to the pinned leaf";
}

// A block that was tried while it was held, and one that was stored behind the scan, are no riddle.
TEST_F(AdminEvict, F_03_what_was_let_go_or_stored_meanwhile_is_counted_apart) {
  set_up(256);
  put(*client_, space_, keys_of(1, 1));
  put_star(pattern_key(9, 9), keys_of(2, 100));
  SimLease held = lease(pattern_key(1, 0));
  const EvictReport first = step({}, {});
  ASSERT_TRUE(first.next.has_value());
  SimClient::release(held);
  EvictReport total = first;
  for (EvictCursor from = *first.next; total.next; from = total.next.value_or(EvictCursor{})) {
    const EvictReport more = step({}, from);
    total.add(more);
    total.next = more.next;
  }
  EXPECT_EQ(total.evicted, 100U);
  EXPECT_EQ(total.kept.other, 1U);
  EXPECT_EQ(total.kept.total(), stats().blocks_ready);
}

TEST_F(AdminEvict, F_03_pinned_and_unfinished_blocks_are_counted_as_kept) {
  set_up(64);
  put(*client_, space_, keys_of(1, 3));
  put(*client_, space_, keys_of(2, 1));
  (void)call(*client_, Op::kPin, space_, {pattern_key(1, 2)}, kNsPerSecond);
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(3, 2));
  for (const EvictTarget& target : {EvictTarget{}, below(pattern_key(1, 0)), below(pattern_key(3, 0))}) {
    const EvictReport report = evict(target);
    EXPECT_LE(report.evicted, 1U);
    EXPECT_EQ(report.kept.pinned, target.key_prefix == to_hex(pattern_key(3, 0)) ? 0U : 1U);
    EXPECT_EQ(report.kept.writing, target.key_prefix == to_hex(pattern_key(1, 0)) ? 0U : 2U);
  }
  commit(*client_, open);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(3, 2)), 2U);
}

TEST_F(AdminEvict, F_03_two_administrators_at_once_evict_each_block_once) {
  set_up(2048);
  put(*client_, space_, keys_of(1, 300));
  put_star(pattern_key(1, 100), keys_of(2, 300));
  SimLease held = lease(pattern_key(2, 5));
  EvictCursor other;
  EvictReport others;
  const EvictReport mine = evict(below(pattern_key(1, 0)), [&] {
    const EvictReport report = step(below(pattern_key(1, 0)), other);
    others.add(report);
    other = report.next.value_or(EvictCursor{});
  });
  EXPECT_EQ(mine.evicted + others.evicted + evict(below(pattern_key(1, 0))).evicted, 300U - 101U + 299U);
  EXPECT_LE(mine.kept.leased, 1U) << "what a restarted walk saw before does not count twice";
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 300)), 101U);
  SimClient::release(held);
}

TEST_F(AdminEvict, F_03_stores_between_the_steps_do_no_harm) {
  set_up(512);
  Prng chance(3);
  for (std::uint64_t chain = 1; chain < 40; ++chain) put(*client_, space_, keys_of(chain, 10));
  std::uint64_t next = 100;
  for (int round = 0; round < 20; ++round) {
    const EvictTarget target = round % 2 == 0 ? EvictTarget{} : below(pattern_key(1 + chance.below(next), 0));
    (void)evict(target, [&] {
      if (chance.below(4) != 0) return;  // else it would never end
      put_below(pattern_key(chance.below(next), chance.below(10)), keys_of(next, 10));
      ++next;
    });
    check_store(*store_);
    for (int i = 0; i < 10; ++i) put(*client_, space_, keys_of(next++, 10));
  }
  (void)evict({});
  EXPECT_EQ(stats().blocks_ready, 0U);
}

// Two spaces of the client's namespace, one of another's.
class AdminEvictSpaces : public AdminEvict {
 protected:
  void SetUp() override {
    set_up(64);
    second_ = client_->register_space(encoded_spec("other", kBlock));
    stranger_ = &add_client("strangers");
    third_ = usual_space(*stranger_);
  }
  SpaceId second_ = SpaceId::kNone;
  SimClient* stranger_ = nullptr;
  SpaceId third_ = SpaceId::kNone;
};

TEST_F(AdminEvictSpaces, F_03_a_key_is_evicted_in_all_its_spaces_and_a_beginning_wherever_it_fits) {
  put(*client_, space_, keys_of(1, 2));
  put(*client_, second_, keys_of(1, 2));
  put(*stranger_, third_, keys_of(1, 1));
  EXPECT_EQ(evict(below(pattern_key(1, 0))).evicted, 5U);
  put(*client_, space_, keys_of(1, 1));
  EXPECT_EQ(evict({{}, to_hex(pattern_key(1, 0)).substr(0, 13)}).evicted, 1U);
  EXPECT_EQ(evict(below(pattern_key(9, 9))).evicted, 0U);
}

TEST_F(AdminEvictSpaces, F_03_a_filter_leaves_other_spaces_and_namespaces_alone) {
  put(*client_, space_, keys_of(1, 4));
  put(*client_, second_, keys_of(2, 4));
  put(*stranger_, third_, keys_of(3, 4));
  EXPECT_EQ(evict({{"main", second_}, ""}).evicted, 4U);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 4)), 4U);
  EXPECT_EQ(evict({{"main", SpaceId::kNone}, ""}).evicted, 4U);
  EXPECT_EQ(count_ready(*stranger_, third_, keys_of(3, 4)), 4U);
}

}  // namespace
}  // namespace kvtier::test
