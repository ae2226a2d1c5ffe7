// Who is said to be the reason when a reservation finds no room, and what is said to do about it.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

class Blame : public StoreFixture {
 protected:
  static constexpr std::uint64_t kSlots = 64;
  static constexpr std::uint64_t kSlabs = kSlots / 4;

  void SetUp() override {
    make_store(kSlots);
    client_ = &add_client("main", 1234);
    space_ = usual_space(*client_);
  }
  Completion answer_to(SimClient& client, std::uint32_t request) {
    for (int i = 0; i < 1000 && !client.is_answered(request); ++i) advance(kNsPerMs / 10);
    return client.completion(request);
  }
  std::string complaints() {
    std::string text;
    for (const std::string& line : store_->admin().complaints()) text += line + "\n";
    return text;
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(Blame, more_writers_than_slabs_are_nobodys_doing_and_the_setting_is_named) {
  std::vector<SimClient*> writers;
  for (std::uint64_t i = 0; i < kSlabs; ++i) {
    writers.push_back(&add_client("main", static_cast<std::uint32_t>(4000 + i)));
    (void)usual_space(*writers.back());
    ASSERT_EQ(holds_of(reserve(*writers.back(), space_, keys_of(i + 1, 1))).size(), 1U);
  }
  const Completion answer = answer_to(*client_, client_->reserve(space_, keys_of(100, 1), {}));
  EXPECT_EQ(answer.code, Code::kNoSpace);
  EXPECT_EQ(answer.cause, Cause::kWriterBusy);
  EXPECT_EQ(answer.detail, 0U) << "none of them is to blame";
  EXPECT_NE(complaints().find("48 of 64 slots"), std::string::npos) << complaints();
  EXPECT_NE(complaints().find("all 16 are taken; make host.slab_bytes smaller"), std::string::npos);
  EXPECT_EQ(complaints().find("pid"), std::string::npos) << complaints();
  advance(10 * kNsPerSecond);
  EXPECT_EQ(complaints(), "");
}

TEST_F(Blame, what_one_call_took_itself_counts_before_the_few_blocks_of_another) {
  SimClient& other = add_client("main", 4711);
  (void)usual_space(other);
  put(*client_, space_, keys_of(1, 4));
  std::vector<SimLease> leases;
  for (const Key& key : keys_of(1, 4)) leases.push_back(*other.acquire(space_, key));
  (void)reserve(*client_, space_, keys_of(2, kSlots));
  EXPECT_EQ(last_completion_.cause, Cause::kWriterBusy);
  EXPECT_EQ(last_completion_.detail, 1234U);
  for (SimLease& lease : leases) SimClient::release(lease);
}

TEST_F(Blame, more_than_there_could_ever_be_is_the_requests_own_fault) {
  (void)reserve(*client_, space_, keys_of(1, kSlots + 1));
  EXPECT_EQ(last_completion_.cause, Cause::kRequestTooLarge);
  EXPECT_EQ(complaints(), "");
}

// The blocks of the other size are as young as its own few: it could not have what it needs by its own evictions.
TEST_F(Blame, all_or_nothing_of_more_than_a_class_has_takes_slabs_from_young_blocks) {
  SimClient& large = add_client();
  const SpaceId space = large.register_space(encoded_spec("large", 2 * kBlock));
  put(large, space, keys_of(1, 2));
  for (std::uint64_t chain = 10; chain < 70; ++chain) put(*client_, space_, keys_of(chain, 1));
  const std::uint32_t request = large.reserve(space, keys_of(2, 6), {}, true);
  EXPECT_EQ(answer_to(large, request).code, Code::kOk);
  EXPECT_EQ(holds_of(large.reserved(request)).size(), 6U);
}

TEST_F(Blame, R_08_nobody_is_named_for_what_its_exit_gave_back) {
  SimClient& holder = add_client("main", 4711);
  (void)usual_space(holder);
  for (std::uint64_t chain = 1; chain <= kSlots; ++chain) put(*client_, space_, keys_of(chain, 1));
  for (std::uint64_t chain = 1; chain <= kSlots; ++chain)
    ASSERT_TRUE(holder.acquire(space_, pattern_key(chain, 0)).has_value());
  SimClient& large = add_client();
  const SpaceId space = large.register_space(encoded_spec("large", 2 * kBlock));
  for (std::uint64_t i = 0; i < 40; ++i)
    (void)answer_to(large, large.reserve(space, keys_of(100 + i, 1), {})), advance(100 * kNsPerMs);
  EXPECT_NE(complaints().find("pid 4711"), std::string::npos) << complaints();
  end_process(holder);
  EXPECT_EQ(complaints().find("4711"), std::string::npos) << complaints();
}

}  // namespace
}  // namespace kvtier::test
