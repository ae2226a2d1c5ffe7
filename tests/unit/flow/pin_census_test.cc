// How much each client leases is counted in bounded steps: a status request must not hold the conductor up by
// clients times slots.

#include "daemon/flow/admin.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlots = 4096;
constexpr std::uint32_t kClients = 40;  // more pins than one step looks at

class Census : public StoreFixture {
 protected:
  void SetUp() override {
    make_store(kSlots);
    for (std::uint32_t i = 0; i < kClients; ++i) {
      each_.push_back(&add_client("main", kFirstPid + i));
      space_ = usual_space(*each_.back());
    }
    for (std::uint64_t chain = 0; chain < kSlots / 64; ++chain) put(*each_[0], space_, keys_of(chain, 64));
  }
  void lease(SimClient& client, std::uint64_t chain, std::uint32_t count) {
    for (const Key& key : keys_of(chain, count)) leases_.push_back(*client.acquire(space_, key));
  }
  std::uint32_t count_all(std::uint64_t round) {
    std::uint32_t steps = 1;
    while (!admin().leases_count(round)) ++steps;
    return steps;
  }
  std::uint64_t leased_by(std::uint32_t pid) {
    for (const ClientView& view : admin().clients()) {
      if (view.pid == pid) return view.leased_blocks;
    }
    return ~std::uint64_t{0};
  }
  StoreAdmin& admin() { return store_->admin(); }

  static constexpr std::uint32_t kFirstPid = 5000;
  std::vector<SimClient*> each_;
  std::vector<SimLease> leases_;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Census, counts_every_client_in_more_than_one_step) {
  lease(*each_[0], 1, 10);
  lease(*each_[kClients - 1], 63, 64);
  EXPECT_GT(count_all(admin().leases_ask()), 1U);
  EXPECT_EQ(leased_by(kFirstPid), 10U);
  EXPECT_EQ(leased_by(kFirstPid + 1), 0U);
  EXPECT_EQ(leased_by(kFirstPid + kClients - 1), 64U);
}

TEST_F(Census, whoever_asks_in_the_middle_waits_for_a_round_of_its_own) {
  const std::uint64_t first = admin().leases_ask();
  ASSERT_FALSE(admin().leases_count(first));  // the first client was looked at
  lease(*each_[0], 1, 3);
  const std::uint64_t second = admin().leases_ask();
  EXPECT_NE(first, second);
  count_all(first);
  EXPECT_EQ(leased_by(kFirstPid), 0U);
  count_all(second);
  EXPECT_EQ(leased_by(kFirstPid), 3U);
}

TEST_F(Census, a_client_that_comes_in_the_place_of_one_that_died_has_none_of_its_leases) {
  lease(*each_[31], 5, 20);  // where the first step of 131,072 pins ends, or just after
  const std::uint64_t round = admin().leases_ask();
  ASSERT_FALSE(admin().leases_count(round));
  leases_.clear();
  for (std::uint32_t i = 30; i < 34; ++i) end_process(*each_[i]);
  for (std::uint32_t i = 30; i < 34; ++i) (void)usual_space(add_client("main", 6000 + i));
  count_all(round);
  for (std::uint32_t i = 30; i < 34; ++i) EXPECT_EQ(leased_by(6000 + i), 0U) << i;
  EXPECT_EQ(leased_by(kFirstPid + 31), ~std::uint64_t{0});
}

}  // namespace
}  // namespace kvtier::test
