// A process whose connection broke, or whose session an administrator ended, comes back to its own session.

#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::size_t kSlots = 16;

class Resume : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(kSlots);
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  void hang_up() { store_->session_hang_up(client_->session()); }
  Result<SessionGrant> ask(const SessionRequest& request, std::uint64_t change_of_secret = 0) {
    const SessionGrant& own = client_->grant();
    const std::uint64_t secret[2] = {own.secret[0], own.secret[1] ^ change_of_secret};
    return store_->session_resume(own.session_id, secret, request);
  }
  void come_back() {
    const Result<SessionGrant> grant = ask({.namespace_name = "main"});
    ASSERT_TRUE(grant.is_ok()) << grant.status().to_string();
    client_->resume(*store_, grant.value());
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Resume, all_slots_can_be_written_again) {
  put(*client_, space_, keys_of(1, 3));
  ASSERT_EQ(holds_of(reserve(*client_, space_, keys_of(2, 10))).size(), 10U);
  hang_up();
  EXPECT_EQ(stats().slots_quarantined, 10U);
  come_back();
  EXPECT_EQ(stats().slots_quarantined, 10U) << "its threads may be writing still";
  settle();
  EXPECT_EQ(stats().slots_quarantined, 0U);
  EXPECT_EQ(stats().zombies, 0U);
  EXPECT_EQ(stats().sessions, 1U);
  const std::vector<Reservation> all = reserve(*client_, space_, keys_of(3, kSlots), true);
  ASSERT_EQ(holds_of(all).size(), kSlots);
  commit(*client_, all);
  EXPECT_EQ(count_ready(*client_, space_, keys_of(3, kSlots)), kSlots);
}

TEST_F(Resume, another_writer_gets_its_slabs) {
  put(*client_, space_, keys_of(1, kSlots));
  hang_up();
  come_back();
  SimClient& other = add_client();
  (void)usual_space(other);
  EXPECT_EQ(holds_of(reserve(other, space_, keys_of(2, 4), true)).size(), 4U);
}

TEST_F(Resume, what_was_being_written_is_lost) {
  const std::vector<Reservation> open = reserve(*client_, space_, keys_of(1, 2));
  hang_up();
  come_back();
  commit(*client_, open);
  EXPECT_EQ(stats().commits, 0U);
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 0);
}

TEST_F(Resume, leases_live_on) {
  put(*client_, space_, keys_of(1, 1));
  std::optional<SimLease> lease = client_->acquire(space_, pattern_key(1, 0));
  ASSERT_TRUE(lease.has_value());
  hang_up();
  come_back();
  for (std::uint64_t chain = 100; chain < 140; ++chain) put(*client_, space_, keys_of(chain, 1));
  expect_exact(*lease);
  SimClient::release(*lease);
}

// The client numbers its requests anew: an answer to one of before would be taken for another's.
TEST_F(Resume, nothing_of_the_old_connection_is_answered) {
  SimClient& writer = add_client();
  (void)usual_space(writer);
  const std::vector<Reservation> pending = reserve(writer, space_, keys_of(1, 1));
  const std::uint32_t wait = client_->simple(Op::kWait, space_, keys_of(1, 1));
  const std::uint32_t invalidation = client_->simple(Op::kInvalidate, space_, {});
  const std::uint32_t echo = client_->simple(Op::kEcho, space_, {});
  hang_up();
  come_back();
  settle();
  writer.abort(holds_of(pending));
  settle();
  EXPECT_FALSE(client_->is_answered(wait));
  EXPECT_FALSE(client_->is_answered(invalidation));
  EXPECT_FALSE(client_->is_answered(echo));
  EXPECT_EQ(stats().waits_open, 0U);
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).code, Code::kOk);
}

TEST_F(Resume, hanging_up_again_and_again_queues_no_more_invalidations_than_one_session_may) {
  constexpr int kOpenMax = 16;
  for (int i = 0; i < 4 * kOpenMax; ++i) {
    (void)client_->simple(Op::kInvalidate, space_, {});
    hang_up();
    come_back();
  }
  const std::uint32_t one_more = client_->simple(Op::kInvalidate, space_, {});
  deliver();
  ASSERT_TRUE(client_->is_answered(one_more));
  EXPECT_EQ(client_->completion(one_more).code, Code::kBusy);
}

TEST_F(Resume, only_with_its_secret_and_only_when_nobody_is_connected) {
  EXPECT_EQ(ask({.namespace_name = "main"}).code(), Code::kStale) << "it is connected";
  hang_up();
  EXPECT_EQ(ask({.namespace_name = "main"}, 1).code(), Code::kStale);
  EXPECT_EQ(ask({.namespace_name = "other"}).code(), Code::kStale) << "its rights are those of another";
  EXPECT_EQ(stats().zombies, 1U);
  come_back();
}

TEST_F(Resume, a_writer_that_may_only_read_now_goes_on_as_a_reader_and_stays_one) {
  put(*client_, space_, keys_of(1, kSlots));
  hang_up();
  const Result<SessionGrant> grant = ask({.namespace_name = "main", .is_read_only = true});
  ASSERT_TRUE(grant.is_ok()) << grant.status().to_string();
  client_->resume(*store_, grant.value());
  (void)reserve(*client_, space_, keys_of(2, 1));
  EXPECT_EQ(last_completion_.code, Code::kDenied);
  SimClient& other = add_client();
  (void)usual_space(other);
  EXPECT_EQ(holds_of(reserve(other, space_, keys_of(3, 4), true)).size(), 4U) << "it gave its slabs back";
  hang_up();
  EXPECT_EQ(ask({.namespace_name = "main"}).code(), Code::kStale) << "its descriptors may be read-only";
}

}  // namespace
}  // namespace kvtier::test
