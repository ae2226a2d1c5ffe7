// What makes the health degraded, and that the culprit is named: a client that holds too much, or is
// disconnected and still runs.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Complaints : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(64);
    client_ = &add_client();
    space_ = usual_space(*client_);
    holder_ = &add_client("main", 4711);
    (void)usual_space(*holder_);
  }
  std::string complaints() {
    StoreAdmin& admin = store_->admin();
    const std::uint64_t census = admin.leases_ask();
    while (!admin.leases_count(census)) continue;
    std::string text;
    for (const std::string& line : admin.complaints()) text += line + "\n";
    return text;
  }

  SimClient* client_ = nullptr;
  SimClient* holder_ = nullptr;  ///< a stopped process: it answers nothing and lets go of nothing
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Complaints, a_stopped_client_that_leases_most_of_the_tier_is_named) {
  put(*client_, space_, keys_of(1, 48));
  EXPECT_EQ(complaints(), "");
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 40)) leases.push_back(*holder_->acquire(space_, key));
  EXPECT_NE(complaints().find("pid 4711"), std::string::npos) << complaints();
  EXPECT_NE(complaints().find("pinned_fraction_client"), std::string::npos) << "the knob is named";
  EXPECT_EQ(complaints().find("pid 1000"), std::string::npos) << "nobody else is accused";
  (void)reserve(*client_, space_, keys_of(2, 40), true);
  EXPECT_EQ(last_completion_.code, Code::kNoSpace);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  for (SimLease& lease : leases) SimClient::release(lease);
  EXPECT_EQ(complaints(), "");
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(3, 40), true)).size(), 40U);
}

TEST_F(Complaints, specs_that_run_out_are_said_before_they_do) {
  SimClient& other = add_client("greedy");
  const std::uint32_t most = store_->state().options.spaces_max;
  const auto register_up_to = [&](std::uint32_t count) {
    while (store_->state().restart.header().space_count < count)
      (void)other.register_space(
          encoded_spec("model " + std::to_string(store_->state().restart.header().space_count), kBlock));
  };
  register_up_to(most * 8 / 10);
  EXPECT_EQ(complaints(), "");
  register_up_to((most * 9 + 9) / 10);
  EXPECT_NE(complaints().find("limits.spaces_max " + std::to_string(most)), std::string::npos)
      << complaints();
  EXPECT_NE(complaints().find("namespace greedy"), std::string::npos) << "who has most is named";
}

TEST_F(Complaints, what_one_client_leases_and_pins_counts_once_and_together) {
  put(*client_, space_, keys_of(1, 48));
  (void)call(*holder_, Op::kPin, space_, keys_of(1, 20), 60 * kNsPerSecond);
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 20)) leases.push_back(*holder_->acquire(space_, key));
  EXPECT_EQ(complaints(), "") << "the same 20 of 64";
  for (const Key& key : keys_of(1, 20, 20)) leases.push_back(*holder_->acquire(space_, key));
  EXPECT_NE(
      complaints().find("pid 4711 (sim) holds 160 KiB of namespace main, leases 160 KiB and pins 80 KiB"),
      std::string::npos)
      << complaints();
  for (SimLease& lease : leases) SimClient::release(lease);
  EXPECT_EQ(complaints(), "");
}

TEST_F(Complaints, pins_of_a_client_that_closed_are_complained_of_too) {
  put(*client_, space_, keys_of(1, 48));
  (void)call(*holder_, Op::kPin, space_, keys_of(1, 40), 60 * kNsPerSecond);
  EXPECT_NE(complaints().find("pid 4711 (sim) holds"), std::string::npos) << complaints();
  end_process(*holder_);
  EXPECT_NE(complaints().find("pid 4711 (closed) holds"), std::string::npos) << complaints();
  EXPECT_EQ(complaints().find("disconnected"), std::string::npos) << complaints();
  advance(61 * kNsPerSecond);
  EXPECT_EQ(complaints(), "");
}

// A small namespace's memory is its limit, not the tier.
TEST_F(Complaints, a_client_is_measured_by_its_namespaces_memory) {
  store_->namespace_limit("main", 16 * kBlock);
  put(*client_, space_, keys_of(1, 12));
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 8)) leases.push_back(*holder_->acquire(space_, key));
  EXPECT_EQ(complaints(), "");
  leases.push_back(*holder_->acquire(space_, pattern_key(1, 8)));
  EXPECT_NE(complaints().find("pid 4711 (sim) holds 36 KiB of namespace main"), std::string::npos)
      << complaints();
  for (SimLease& lease : leases) SimClient::release(lease);
}

TEST_F(Complaints, a_client_that_is_disconnected_and_still_runs_is_named) {
  (void)reserve(*holder_, space_, keys_of(1, 3));
  store_->session_hang_up(holder_->session());
  EXPECT_NE(complaints().find("pid 4711"), std::string::npos);
  EXPECT_NE(complaints().find("3 blocks quarantined"), std::string::npos) << complaints();
  EXPECT_NE(complaints().find("1 slab that nobody can write"), std::string::npos) << complaints();
  end_process(*holder_);
  EXPECT_EQ(complaints(), "");
}

TEST_F(Complaints, a_stopped_writer_is_named_as_soon_as_somebody_is_refused_for_its_sake) {
  advance(kNsPerSecond);
  put(*holder_, space_, keys_of(1, 64));
  answers_revocations_ = false;
  const std::uint32_t request = client_->reserve(space_, keys_of(2, 1), {});
  advance(kNsPerMs);
  EXPECT_EQ(complaints(), "") << "a busy machine may take that long, and nobody was refused yet";
  advance(19 * kNsPerMs);
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).cause, Cause::kWriterBusy);
  EXPECT_EQ(client_->completion(request).detail, 4711U);
  EXPECT_NE(complaints().find("pid 4711 (sim) has not answered for 20 ms: 1 slab"), std::string::npos)
      << complaints();
  for (std::uint64_t chain = 3; chain < 5; ++chain) {
    (void)client_->reserve(space_, keys_of(chain, 1), {});
    advance(20 * kNsPerMs);
  }
  advance(3 * kNsPerSecond);
  const std::string text = complaints();
  EXPECT_NE(text.find("pid 4711 (sim) has not answered for 3.06 s: 3 slabs"), std::string::npos) << text;
  EXPECT_EQ(text.find("pid 1000"), std::string::npos) << "nobody else is accused";
  answers_revocations_ = true;
  settle();
  EXPECT_EQ(complaints(), "");
}

// It answered everything that it was asked, and ends none of its reservations.
TEST_F(Complaints, who_reserves_everything_and_stops_is_named_from_the_first_refusal_on) {
  advance(kNsPerSecond);
  const std::vector<Reservation> held = reserve(*holder_, space_, keys_of(1, 64));
  ASSERT_EQ(holds_of(held).size(), 64U);
  EXPECT_EQ(complaints(), "") << "nobody was refused";
  const std::vector<Reservation> refused = reserve(*client_, space_, keys_of(2, 1));
  EXPECT_EQ(last_completion_.cause, Cause::kWriterBusy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  EXPECT_EQ(refused[0].result.cause, Cause::kWriterBusy);
  advance(20 * kNsPerMs);
  EXPECT_NE(complaints().find("pid 4711 (sim) has 64 blocks reserved, and for 20 ms others find no room"),
            std::string::npos)
      << complaints();
  EXPECT_EQ(complaints().find("pid 1000"), std::string::npos) << "nobody else is accused";
  commit(*holder_, held);
  EXPECT_EQ(complaints(), "") << "it goes on";
}

TEST_F(Complaints, few_leases_beside_many_reservations_are_not_the_reason) {
  put(*client_, space_, keys_of(1, 2));
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 2)) leases.push_back(*client_->acquire(space_, key));
  ASSERT_EQ(holds_of(reserve(*holder_, space_, keys_of(2, 60))).size(), 60U);
  (void)reserve(*client_, space_, keys_of(3, 4), true);
  EXPECT_EQ(last_completion_.cause, Cause::kWriterBusy);
  EXPECT_EQ(last_completion_.detail, 4711U);
  for (SimLease& lease : leases) SimClient::release(lease);
}

TEST_F(Complaints, who_asks_for_more_than_there_is_accuses_nobody) {
  (void)reserve(*holder_, space_, keys_of(1, 2));
  (void)reserve(*client_, space_, keys_of(2, 100));
  EXPECT_EQ(last_completion_.cause, Cause::kRequestTooLarge);
  EXPECT_EQ(complaints(), "");
}

// Nobody was refused: it stopped between two questions of one reservation, or others were quick.
TEST_F(Complaints, a_stopped_writer_is_named_once_it_was_silent_for_a_second) {
  advance(kNsPerSecond);
  put(*holder_, space_, keys_of(1, 64));
  answers_revocations_ = false;
  (void)client_->reserve(space_, keys_of(2, 1), {});
  deliver();
  store_->session_hang_up(client_->session());
  advance(kNsPerSecond);
  EXPECT_EQ(complaints().find("pid 4711"), std::string::npos) << complaints();
  advance(kNsPerMs);
  EXPECT_NE(complaints().find("pid 4711 (sim) has not answered for 1"), std::string::npos) << complaints();
}

TEST_F(Complaints, a_writer_that_says_that_it_is_busy_has_answered) {
  advance(kNsPerSecond);
  put(*holder_, space_, keys_of(1, 64));
  answers_revocations_ = false;
  (void)client_->reserve(space_, keys_of(2, 1), {});
  settle();
  holder_->acknowledge_busy();
  advance(20 * kNsPerMs);
  holder_->acknowledge_busy();
  advance(3 * kNsPerSecond);
  EXPECT_EQ(complaints(), "");
}

TEST_F(Complaints, a_stopped_client_of_a_namespace_that_gives_memory_up_is_named) {
  advance(kNsPerSecond);
  put(*client_, space_, keys_of(1, 64));
  answers_revocations_ = false;
  SimClient& poor = add_client("poor");
  (void)poor.reserve(usual_space(poor), keys_of(2, 1), {});
  settle();
  client_->acknowledge();
  advance(3 * kNsPerSecond);
  const std::string text = complaints();
  EXPECT_NE(text.find("pid 4711 (sim) has not answered"), std::string::npos) << text;
  EXPECT_EQ(text.find("pid 1000"), std::string::npos) << "that one unmapped";
}

}  // namespace
}  // namespace kvtier::test
