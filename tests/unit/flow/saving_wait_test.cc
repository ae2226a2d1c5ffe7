// Reservations beside a tier that is slow, or says nothing: who waits, how often, and what a block costs to find. Work is
// counted, not timed.

#include "daemon/flow/evict.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kSlots = 1536;
constexpr std::uint64_t kLooksMax = 4;  // at the cold end, for each block that a reservation gets

class SavingWait : public DiskFixture {
 protected:
  void SetUp() override {
    make_disk_store(kSlots, {.disk_wait_ns = 20 * kNsPerMs});
    client_ = &add_client();
    space_ = usual_space(*client_);
    port_->is_automatic = false;
  }
  /// Memory full of chains of so many blocks.
  void fill(std::uint32_t length) {
    for (std::uint64_t chain = 1; chain <= kSlots / length; ++chain)
      put(*client_, space_, keys_of(chain, length));
    settle();
  }
  /// Of so many blocks; the answer may be waited for.
  std::uint32_t begin(std::uint32_t count = 1) {
    const std::uint32_t request = client_->reserve(space_, keys_of(++chain_, count), {});
    settle();
    return request;
  }
  [[nodiscard]] bool is_granted(std::uint32_t request) const {
    return client_->is_answered(request) && client_->completion(request).code == Code::kOk;
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  std::uint64_t chain_ = 10000;
};

// Each of them waited, and looked at all that the device had before it found one: two thousand looks a block.
TEST_F(SavingWait, ATierThatSaysNothingIsWaitedForOnce) {
  fill(1);
  const std::uint32_t first = begin();
  EXPECT_FALSE(client_->is_answered(first));
  advance(20 * kNsPerMs);
  ASSERT_TRUE(is_granted(first));
  const std::uint64_t looks = stats().evict_scanned;
  constexpr std::uint32_t kBlocks = 256;
  for (std::uint32_t i = 0; i < kBlocks; ++i) ASSERT_TRUE(is_granted(begin())) << i;
  EXPECT_EQ(stats().evictions_unsaved, kBlocks + 1);
  RecordProperty("looks", std::to_string(stats().evict_scanned - looks));
  EXPECT_LE(stats().evict_scanned - looks, kLooksMax * kBlocks);
}

TEST_F(SavingWait, WhatIsHeardAgainIsWaitedForAgain) {
  fill(1);
  const std::uint32_t first = begin();
  advance(20 * kNsPerMs);
  ASSERT_TRUE(is_granted(first));
  port_->answer(1);
  settle();
  const std::uint32_t second = begin();
  EXPECT_FALSE(client_->is_answered(second)) << "none is clean that is cold, and the tier works";
  port_->answer();
  settle();
  EXPECT_TRUE(is_granted(second));
  EXPECT_EQ(stats().evictions_unsaved, 1U);
}

TEST_F(SavingWait, ATierThatTakesNothingIsNotWaitedForEachTimeThatItIsTried) {
  fill(1);
  port_->ending = [](const DiskCommand&) { return FakeDiskPort::Ending{.code = Code::kNoSpace}; };
  port_->answer();
  settle();
  advance(20 * kNsPerMs);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(is_granted(begin())) << i;
    port_->answer();
    advance(kNsPerMs);
  }
}

TEST_F(SavingWait, AnAnswerEndsOneWaitAndNobodyLooksTwice) {
  fill(1);
  constexpr std::uint32_t kBlocks = 64;
  std::vector<std::uint32_t> requests;
  const std::uint64_t looks = stats().evict_scanned;
  for (std::uint32_t i = 0; i < kBlocks; ++i) requests.push_back(begin());
  EXPECT_EQ(stats().reserves_deferred, kBlocks);
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    port_->answer(1);
    settle();
    EXPECT_EQ(stats().reserves_deferred, kBlocks - i - 1);
    EXPECT_TRUE(is_granted(requests[i])) << "the one that waits longest";
  }
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  RecordProperty("looks", std::to_string(stats().evict_scanned - looks));
  EXPECT_LE(stats().evict_scanned - looks, kCleanScanMax + kLooksMax * kBlocks)
      << "the first of them looked far";
}

TEST_F(SavingWait, OneThatMissesMuchIsNotTriedWithEachAnswer) {
  fill(1);
  constexpr std::uint32_t kBlocks = 128;
  const std::uint32_t request = begin(kBlocks);
  const std::uint64_t looks = stats().evict_scanned;
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    EXPECT_FALSE(client_->is_answered(request)) << i;
    port_->answer(1);
    settle();
  }
  EXPECT_TRUE(is_granted(request));
  RecordProperty("looks", std::to_string(stats().evict_scanned - looks));
  EXPECT_LE(stats().evict_scanned - looks, kLooksMax * kBlocks);
}

// Of a prefix the first answers free nothing: its head stays as long as its tail does.
TEST_F(SavingWait, OfAPrefixTheLastAnswerCounts) {
  fill(64);
  constexpr std::uint32_t kBlocks = 64;
  for (std::uint32_t i = 0; i < kBlocks; ++i) (void)begin();
  const std::uint64_t looks = stats().evict_scanned;
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    EXPECT_EQ(stats().reserves_deferred, kBlocks);
    port_->answer(1);
    settle();
  }
  EXPECT_EQ(stats().reserves_deferred, 0U);
  EXPECT_LE(stats().evict_scanned - looks, kLooksMax * kBlocks);
}

// The answers may all have come for another class: nobody is forgotten when none is open.
TEST_F(SavingWait, NobodyWaitsForPutsThatAreNotOpen) {
  fill(1);
  const SpaceId larger = client_->register_space(encoded_spec("larger", 2 * kBlock));
  const std::uint32_t request = client_->reserve(larger, keys_of(++chain_, 1), {});
  settle();
  for (int i = 0; i < 50 && !client_->is_answered(request); ++i) {
    port_->answer();
    advance(kNsPerMs);
  }
  EXPECT_TRUE(client_->is_answered(request));
}

}  // namespace
}  // namespace kvtier::test
