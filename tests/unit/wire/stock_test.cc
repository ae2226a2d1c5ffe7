// The stock of a channel: each offer has one taker, whoever asks first.

#include "libkvclient/wire/stock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/wire/golden.h"
#include "tests/unit/wire/zeroed_memory.h"

namespace kvtier {
namespace {

constexpr SpaceId kSpace{7};

class StockTable : public ::testing::Test {
 protected:
  static StockGrant grant_of(std::uint32_t number) {
    return {SlotRef::of(1, number), 0, {number + 100, number + 200}, number + 300};
  }
  ZeroedMemory memory_{kStockBytes};
  Stock stock_{memory_.span().data()};
};

TEST_F(StockTable, GoldenBytes) {
  stock_.offer(0, kSpace, {SlotRef::of(1, 2), 0, {3, 4}, 5});
  stock_.offer(1, kSpace, grant_of(1));
  ASSERT_TRUE(stock_.take(1, kSpace));
  stock_.set_name(1, {Key{{6, 7, 8, 9}}, Key{{10, 11, 12, 13}}});
  EXPECT_TRUE(test::is_golden("stock_v1.bin", memory_.span().first(3 * sizeof(StockEntry))));
}

TEST_F(StockTable, AnEmptyTableOffersNothing) {
  for (std::uint32_t i = 0; i < kStockEntries; ++i) {
    EXPECT_FALSE(stock_.take(i, kSpace));
    EXPECT_FALSE(stock_.take(i, SpaceId::kNone)) << "zero is empty, whatever space is asked for";
    EXPECT_FALSE(stock_.take_back(i, kSpace));
    EXPECT_TRUE(stock_.is_empty(i));
  }
  EXPECT_EQ(stock_.offered_count(kSpace), 0U);
}

TEST_F(StockTable, WhatIsTakenIsNotTakenBackAndTheOtherWayRound) {
  stock_.offer(3, kSpace, grant_of(3));
  EXPECT_TRUE(stock_.is_offered(3, kSpace));
  ASSERT_TRUE(stock_.take(3, kSpace));
  EXPECT_EQ(stock_.grant(3).hold.block, 103U);
  EXPECT_FALSE(stock_.take(3, kSpace));
  EXPECT_FALSE(stock_.take_back(3, kSpace));
  EXPECT_FALSE(stock_.is_empty(3)) << "its owner may be writing";
  stock_.clear(3);
  EXPECT_TRUE(stock_.is_empty(3));
  stock_.offer(3, kSpace, grant_of(4));
  ASSERT_TRUE(stock_.take_back(3, kSpace));
  EXPECT_FALSE(stock_.take(3, kSpace));
}

TEST_F(StockTable, AnOfferIsForOneSpace) {
  stock_.offer(0, kSpace, grant_of(0));
  EXPECT_FALSE(stock_.take(0, SpaceId{8}));
  EXPECT_FALSE(stock_.take_back(0, SpaceId{8}));
  EXPECT_EQ(stock_.offered_count(SpaceId{8}), 0U);
  EXPECT_EQ(stock_.offered_count(kSpace), 1U);
}

TEST_F(StockTable, WhatIsPutBackIsOnOfferUnlessTheDaemonClearedIt) {
  stock_.offer(0, kSpace, grant_of(0));
  ASSERT_TRUE(stock_.take(0, kSpace));
  stock_.put_back(0, kSpace);
  ASSERT_TRUE(stock_.take(0, kSpace));
  EXPECT_EQ(stock_.grant(0).generation, 300U);
  stock_.clear(0);
  stock_.put_back(0, kSpace);
  EXPECT_FALSE(stock_.is_offered(0, kSpace));
}

// Two threads of a client and the daemon after the same entry: its grants, numbered, are each had by exactly one, and
// who has one sees that one.
TEST_F(StockTable, EachOfferHasOneOwner) {
  constexpr std::uint32_t kRounds = 2'000;
  std::vector<std::atomic<std::uint32_t>> owners(kRounds);
  std::atomic<bool> is_over{false};
  const auto take = [&] {
    while (!is_over.load()) {
      if (!stock_.take(0, kSpace)) {
        std::this_thread::yield();
        continue;
      }
      const StockGrant grant = stock_.grant(0);
      EXPECT_EQ(grant.slot.slot() + 300U, grant.generation);
      stock_.clear(0);  // as the daemon does when it carries out the commit
      owners[grant.slot.slot()].fetch_add(1);
    }
  };
  std::thread first(take);
  std::thread second(take);
  for (std::uint32_t i = 0; i < kRounds; ++i) {
    stock_.offer(0, kSpace, grant_of(i));
    if (i % 4 == 0 && stock_.take_back(0, kSpace)) owners[i].fetch_add(1);
    while (owners[i].load() == 0) std::this_thread::yield();
  }
  is_over.store(true);
  first.join();
  second.join();
  for (const auto& count : owners) EXPECT_EQ(count.load(), 1U);
}

}  // namespace
}  // namespace kvtier
