// A daemon killed between two steps, and what clients do while it is away: nothing is lost, nothing is given
// to two. Each is a fault that killing daemons under load, or reading for it, has found.

#include "daemon/flow/state.h"
#include "tests/support/restart_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::uint64_t kSlots = 64;

// Four slabs of sixteen blocks.
StoreOptions four_slabs() {
  StoreOptions options;
  options.host_bytes = kSlots * kBlockBytes;
  options.slab_bytes = 16 * kBlockBytes;
  options.low_water_blocks = 0;
  return options;
}

class CutRestart : public RestartFixture {
 protected:
  CutRestart() : RestartFixture(four_slabs()) {}
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(RestartFixture::SetUp());
    space_ = register_space();
  }
  SpaceId register_space() { return client_->register_space(encoded_spec("m", kBlockBytes)); }
  std::vector<Hold> hold(SpaceId space, std::uint64_t chain, std::size_t count) {
    return holds_of(reserve(space, keys_of(chain, count)));
  }
  void come_back() {
    ASSERT_NO_FATAL_FAILURE(resume());
    (void)register_space();
  }
  void expect_no_leak() { RestartFixture::expect_no_leak(space_); }

  SpaceId space_ = SpaceId::kNone;
};

// the daemon was killed while it gave back a slot whose last lease had ended. Its successor stopped,
// again and again.
TEST_F(CutRestart, a_draining_block_whose_slot_is_free_already) {
  client_->commit(hold(space_, 1, 1));
  std::optional<SimLease> lease = client_->acquire(space_, pattern_key(1, 0));
  ASSERT_TRUE(lease);
  (void)client_->simple(Op::kInvalidate, space_, {});
  while (store_->do_work() > 0) {
  }
  ASSERT_EQ(store_->stats().blocks_draining, 1U);
  SimClient::release(*lease);
  ASSERT_TRUE(store_->state().slab_of(lease->slot).table().retire(lease->slot.slot()));
  restart_warm();
  come_back();
  expect_no_leak();
}

// A client that still fills a slot when the daemon dies says "busy" to the successor's revocation, and
// "released" when it has let go: only then, and then for sure, the slot comes back. What it was granted
// meanwhile stays its own.
TEST_F(CutRestart, a_reservation_that_outlives_the_daemon_comes_back_when_the_client_lets_go) {
  (void)hold(space_, 1, 3);
  restart_warm();
  come_back();
  ASSERT_EQ(client_->revocations(), 1U);
  client_->acknowledge_busy();
  EXPECT_EQ(store_->stats().slots_quarantined, 3U);
  const std::vector<Hold> fresh = hold(space_, 2, 16);
  ASSERT_EQ(fresh.size(), 16U);
  client_->acknowledge();
  EXPECT_EQ(store_->stats().slots_quarantined, 0U);
  EXPECT_EQ(store_->stats().blocks_writing, 16U);
  client_->commit(fresh);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(client_->match(space_, pattern_key(2, i)), 1);
  EXPECT_EQ(store_->stats().commits_refused, 0U);
  expect_no_leak();
}

// The successor must know who writes in a slab, or it grants what a client of before still fills.
TEST_F(CutRestart, a_slab_that_was_cut_anew_keeps_its_writer) {
  client_->abort(hold(space_, 1, 1));
  const SpaceId large = client_->register_space(encoded_spec("large", 2 * kBlockBytes));
  const std::vector<Hold> open = hold(large, 2, 4);
  ASSERT_EQ(open.size(), 4U);
  ASSERT_EQ(store_->stats().slab_reshapes, 1U);
  restart_warm();
  EXPECT_EQ(store_->stats().slots_quarantined, 4U);
  come_back();
  client_->acknowledge();
  EXPECT_EQ(store_->stats().slots_quarantined, 0U);
  check_store(*store_);
}

// Nobody has the channel of a session whose pidfd was not kept: it is no reason to start cold.
TEST_F(CutRestart, a_session_cut_in_its_opening_leaves_nothing) {
  client_->commit(hold(space_, 1, 2));
  sum_all();
  const SimClient stranger(*store_, "main", 101);
  ASSERT_TRUE(fds_.has("session2.channel"));
  restart_warm();
  EXPECT_FALSE(fds_.has("session2.channel"));
  EXPECT_EQ(store_->stats().sessions, 1U);
  come_back();
  sum_all();
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 1);
  expect_no_leak();
}

TEST_F(CutRestart, a_client_that_was_not_told_that_it_was_resumed_asks_again) {
  (void)hold(space_, 1, 1);
  restart_warm();
  come_back();
  store_->session_hang_up(client_->session());
  store_->outbox().clear();
  EXPECT_EQ(store_->stats().zombies, 1U);
  come_back();
  EXPECT_EQ(store_->stats().zombies, 0U);
  ASSERT_EQ(client_->revocations(), 2U) << "asked again for what was being written";
  client_->acknowledge();
  EXPECT_EQ(store_->stats().slots_quarantined, 0U);
  expect_no_leak();
}

// The place of a session that ended goes to the next one: an answer for the one must not reach the other.
TEST_F(CutRestart, what_was_queued_for_an_ended_session_goes_with_it) {
  (void)client_->simple(Op::kEcho, space_, {});
  ASSERT_EQ(store_->outbox().size(), 1U);
  const SessionIndex place = client_->session();
  store_->session_hang_up(place);
  store_->session_exited(place);
  const SimClient next(*store_, "main", 101);
  EXPECT_EQ(next.session(), place);
  EXPECT_TRUE(store_->outbox().empty());
}

// A namespace's slab is taken away while one of its clients is not back yet: told at its return, it unmaps.
TEST_F(CutRestart, a_resumed_client_is_told_of_slabs_that_leave) {
  client_->commit(hold(space_, 1, kSlots));
  sum_all();
  restart_warm();
  sum_all();
  SimClient other(*store_, "other", 200);
  const SpaceId space = other.register_space(encoded_spec("m", kBlockBytes));
  const std::uint32_t request = other.reserve(space, {pattern_key(7, 0)}, Key{});
  deliver(other);
  ASSERT_FALSE(other.is_answered(request)) << "it waits for the slab";
  while (store_->state().emptying) (void)store_->do_work();
  come_back();
  ASSERT_EQ(client_->removals(), 1U);
  client_->acknowledge();
  (void)store_->do_work();
  deliver(other);
  ASSERT_TRUE(other.is_answered(request));
  EXPECT_EQ(other.reserved(request)[0].result.code, Code::kOk);
}

}  // namespace
}  // namespace kvtier::test
