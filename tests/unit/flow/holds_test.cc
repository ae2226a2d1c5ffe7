// Reservations are proved by holds: only the session that made one ends it, once.

#include "daemon/flow/admin.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Holds : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Holds, a_key_twice_in_one_request_is_an_error_of_the_second) {
  const Key key = pattern_key(1, 0);
  const std::vector<Reservation> got = reserve(*client_, space_, {key, key, pattern_key(1, 1)});
  EXPECT_EQ(got[0].result.code, Code::kOk);
  EXPECT_EQ(got[1].result.code, Code::kInvalid);
  EXPECT_EQ(got[2].result.code, Code::kOk);
  commit(*client_, got);
  EXPECT_EQ(client_->match(space_, key), 1);
  EXPECT_EQ(stats().blocks_ready, 2U);
}

TEST_F(Holds, a_key_again_in_a_later_request_is_pending) {
  const std::vector<Reservation> got = reserve(*client_, space_, keys_of(1, 2));
  const std::vector<Reservation> again = reserve(*client_, space_, keys_of(1, 2));
  EXPECT_EQ(again[0].result.code, Code::kPending);
  EXPECT_EQ(again[1].result.code, Code::kPending);
  commit(*client_, got);
}

TEST_F(Holds, a_block_has_no_hits_before_somebody_acquired_it) {
  const auto hits = [&] { return store_->admin().blocks({}, 0, 16).rows.at(0).hits; };
  const std::vector<Reservation> got = reserve(*client_, space_, keys_of(1, 1));
  EXPECT_EQ(hits(), 0U) << "being written";
  commit(*client_, got);
  EXPECT_EQ(hits(), 0U);
}

TEST_F(Holds, a_key_twice_all_or_nothing_needs_no_second_slot) {
  std::vector<Key> keys = keys_of(1, 64);
  keys.push_back(keys[0]);
  const std::vector<Reservation> got = reserve(*client_, space_, keys, true);
  // Counting the pair as two may refuse the request; granting it must fill the pool. Nothing in between.
  EXPECT_TRUE(holds_of(got).size() == 64 || holds_of(got).empty()) << holds_of(got).size();
  client_->abort(holds_of(got));
  EXPECT_EQ(stats().blocks_writing, 0U);
}

TEST_F(Holds, the_zero_key_is_no_key) {
  const std::vector<Reservation> got = reserve(*client_, space_, {Key{}, pattern_key(1, 0)});
  EXPECT_EQ(got[0].result.code, Code::kInvalid);
  EXPECT_EQ(got[1].result.code, Code::kOk);
  EXPECT_EQ(client_->match(space_, Key{}), 0);
  client_->abort(holds_of(got));
}

TEST_F(Holds, another_session_cannot_end_a_reservation) {
  const std::vector<Reservation> got = reserve(*client_, space_, keys_of(1, 2));
  SimClient& other = add_client();
  (void)usual_space(other);
  other.commit(holds_of(got));
  other.abort(holds_of(got));
  deliver();
  EXPECT_FALSE(other.is_ended());
  EXPECT_EQ(other.match(space_, pattern_key(1, 0)), 2) << "still pending";
  EXPECT_EQ(stats().commits, 0U);
  commit(*client_, got);
  EXPECT_EQ(other.match(space_, pattern_key(1, 0)), 1);
}

TEST_F(Holds, a_hold_ends_once) {
  const std::vector<Reservation> got = reserve(*client_, space_, keys_of(1, 1));
  commit(*client_, got);
  client_->commit(holds_of(got));
  client_->abort(holds_of(got));
  deliver();
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 1);
  EXPECT_EQ(stats().commits, 1U);
  EXPECT_EQ(stats().aborts, 0U);
}

TEST_F(Holds, a_hold_of_an_earlier_use_of_the_slot_is_stale) {
  const std::vector<Reservation> first = reserve(*client_, space_, keys_of(1, 1));
  client_->abort(holds_of(first));
  // The same slots come round again under other generations.
  std::vector<Hold> open;
  for (std::uint64_t chain = 10; chain < 74; ++chain) {
    for (const Hold& hold : holds_of(reserve(*client_, space_, keys_of(chain, 1)))) open.push_back(hold);
  }
  ASSERT_EQ(open.size(), 64U);
  client_->commit(holds_of(first));
  deliver();
  EXPECT_EQ(stats().commits, 0U);
  EXPECT_EQ(stats().blocks_writing, 64U);
  client_->abort(open);
}

TEST_F(Holds, R_08_everything_of_a_dead_client_comes_back) {
  SimClient& dying = add_client();
  (void)usual_space(dying);
  put(*client_, space_, keys_of(1, 20));
  for (const Key& key : keys_of(1, 20)) ASSERT_TRUE(dying.acquire(space_, key).has_value());
  ASSERT_EQ(holds_of(reserve(dying, space_, keys_of(2, 10))).size(), 10U);
  const std::uint32_t waits = client_->simple(Op::kWait, space_, keys_of(2, 10));
  deliver();
  EXPECT_FALSE(client_->is_answered(waits));
  end_process(dying);
  EXPECT_EQ(stats().blocks_writing, 0U);
  EXPECT_EQ(stats().aborts_by_exit, 10U);
  ASSERT_TRUE(client_->is_answered(waits)) << "who waited for the dead is told";
  EXPECT_EQ(client_->completion(waits).count, 0U);
  let_age();
  for (std::uint64_t chain = 100; chain < 164; ++chain) put(*client_, space_, keys_of(chain, 1));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 20)), 0U) << "its leases hold nothing any more";
}

TEST_F(Holds, R_08_a_hung_up_client_keeps_its_leases_until_its_process_ends) {
  SimClient& reader = add_client();
  (void)usual_space(reader);
  put(*client_, space_, keys_of(1, 1));
  std::optional<SimLease> lease = reader.acquire(space_, pattern_key(1, 0));
  ASSERT_TRUE(lease.has_value());
  store_->session_hang_up(reader.session());
  for (std::uint64_t chain = 100; chain < 300; ++chain) put(*client_, space_, keys_of(chain, 1));
  expect_exact(*lease);
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 1);
  end_process(reader);
  let_age();
  for (std::uint64_t chain = 300; chain < 400; ++chain) put(*client_, space_, keys_of(chain, 1));
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 0);
}

}  // namespace
}  // namespace kvtier::test
