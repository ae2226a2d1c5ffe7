// The key index against regular and hostile keys (L-13): bounded memory, no exception, no loss.

#include "daemon/index/key_index.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/prng.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr NamespaceId kTenant{1};
constexpr SpaceId kSpace{2};
constexpr std::uint32_t kCount = 200000;

Key key_of(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return Key{{a, b, c, d}};
}

void make_room(KeyIndex& index, std::uint64_t count) {
  ASSERT_TRUE(index.reserve(count).is_ok());
  while (index.grow_step()) {
  }
  EXPECT_FALSE(index.wants_growth());
}

template <class Make>
void expect_regular_keys_fit(Make&& make) {
  KeyIndex index(42);
  make_room(index, kCount);
  const std::uint64_t bytes = index.bytes_resident();
  for (std::uint32_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(index.insert(kTenant, kSpace, make(i), BlockId{i}), Code::kOk) << i;
  }
  EXPECT_EQ(index.bytes_resident(), bytes) << "what was reserved suffices: no growth on the request path";
  EXPECT_LT(bytes, std::uint64_t{kCount} * 80);
  for (std::uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(index.find(kTenant, kSpace, make(i)), BlockId{i});
  EXPECT_EQ(index.size(), kCount);
}

TEST(KeyIndex, AddressLikeStridesFit_L13) {
  for (const std::uint64_t stride : {4 * kKiB, 64 * kKiB, 2 * kMiB}) {
    expect_regular_keys_fit([stride](std::uint64_t i) { return key_of((i + 1) * stride, 0, 0, 0); });
  }
}

TEST(KeyIndex, KeysThatDifferOnlyInLowBitsFit_L13) {
  expect_regular_keys_fit([](std::uint64_t i) { return key_of(i, 0, 0, 1); });
  expect_regular_keys_fit([](std::uint64_t i) { return key_of(7, 7, 7, i + 1); });
}

TEST(KeyIndex, KeysThatDifferOnlyInHighBitsFit_L13) {
  expect_regular_keys_fit([](std::uint64_t i) { return key_of(i << 46, 0, 0, 1); });
  expect_regular_keys_fit([](std::uint64_t i) { return key_of(0, 0, 0, (i << 46) | 1); });
}

TEST(KeyIndex, EqualWordsInOtherPlacesAreOtherKeys) {
  KeyIndex index(42);
  for (std::uint32_t word = 0; word < 4; ++word) {
    Key key{};
    key.words[word] = 99;
    ASSERT_EQ(index.insert(kTenant, kSpace, key, BlockId{word}), Code::kOk);
  }
  EXPECT_EQ(index.size(), 4U);
}

TEST(KeyIndex, NamespaceAndSpaceArePartOfTheKey_C01) {
  KeyIndex index(42);
  const Key key = key_of(1, 2, 3, 4);
  ASSERT_EQ(index.insert(NamespaceId{0}, SpaceId{1}, key, BlockId{1}), Code::kOk);
  EXPECT_EQ(index.find(NamespaceId{1}, SpaceId{1}, key), BlockId::kNone);
  EXPECT_EQ(index.find(NamespaceId{0}, SpaceId{2}, key), BlockId::kNone);
  EXPECT_FALSE(index.erase(NamespaceId{1}, SpaceId{0}, key)) << "the two ids are not one sum";
  ASSERT_EQ(index.insert(NamespaceId{1}, SpaceId{1}, key, BlockId{2}), Code::kOk);
  EXPECT_EQ(index.find(NamespaceId{0}, SpaceId{1}, key), BlockId{1});
  EXPECT_EQ(index.insert(NamespaceId{0}, SpaceId{1}, key, BlockId{3}), Code::kExists);
  EXPECT_EQ(index.find(NamespaceId{0}, SpaceId{1}, key), BlockId{1}) << "a refusal changes nothing";
}

TEST(KeyIndex, AgreesWithAPlainMapOverARandomLife) {
  KeyIndex index(5);
  ASSERT_TRUE(index.reserve(20000).is_ok());
  std::unordered_map<std::uint64_t, std::uint32_t> model;
  Prng chance(11);
  for (std::uint32_t i = 0; i < 300000; ++i) {
    const std::uint64_t name = chance.below(20000);
    const Key key = key_of(name * 4096, 0, 0, 1);
    switch (chance.below(3)) {
      case 0: {
        const bool is_new = model.emplace(name, i).second;
        ASSERT_EQ(index.insert(kTenant, kSpace, key, BlockId{i}), is_new ? Code::kOk : Code::kExists);
        break;
      }
      case 1:
        ASSERT_EQ(index.erase(kTenant, kSpace, key), model.erase(name) == 1);
        break;
      default: {
        const auto found = model.find(name);
        const BlockId expected = found == model.end() ? BlockId::kNone : BlockId{found->second};
        ASSERT_EQ(index.find(kTenant, kSpace, key), expected);
      }
    }
    if (i % 64 != 0) continue;
    ASSERT_EQ(index.size(), model.size());  // it counts over all buckets
  }
}

// The fullest that a table is allowed to be: 943,000 of 1,048,576 places, at which it must still take a new key
// for every old one that goes.
TEST(KeyIndex, WhatWasReservedSufficesAtTheFullest_L13) {
  constexpr std::uint32_t kFullest = 943000;
  KeyIndex index(6);
  make_room(index, kFullest);
  const std::uint64_t bytes = index.bytes_resident();
  for (std::uint32_t i = 0; i < kFullest; ++i)
    ASSERT_EQ(index.insert(kTenant, kSpace, key_of(i, 0, 0, 1), BlockId{i}), Code::kOk) << i;
  for (std::uint32_t i = 0; i < 500000; ++i) {
    ASSERT_TRUE(index.erase(kTenant, kSpace, key_of(i, 0, 0, 1)));
    ASSERT_EQ(index.insert(kTenant, kSpace, key_of(kFullest + i, 0, 0, 1), BlockId{i}), Code::kOk) << i;
  }
  EXPECT_EQ(index.bytes_resident(), bytes);
}

// A part is made anew at a time: as many steps as parts, none of which touches more than its share.
TEST(KeyIndex, GrowthIsWorkInStepsAndKeysAreFoundInBetween) {
  constexpr std::uint32_t kMany = 50000;
  KeyIndex index(7);
  make_room(index, kMany);
  for (std::uint32_t i = 0; i < kMany; ++i)
    ASSERT_EQ(index.insert(kTenant, kSpace, key_of(i, 0, 0, 1), BlockId{i}), Code::kOk);
  ASSERT_TRUE(index.reserve(4 * std::uint64_t{kMany}).is_ok());
  std::uint64_t bytes = index.bytes_resident();
  std::uint32_t steps = 0;
  for (; index.grow_step(); ++steps) {
    const std::uint32_t i = steps * 700;
    ASSERT_EQ(index.find(kTenant, kSpace, key_of(i, 0, 0, 1)), BlockId{i});
    ASSERT_LE(index.bytes_resident(), bytes + bytes / 8);
    bytes = index.bytes_resident();
  }
  EXPECT_EQ(steps, kIndexParts);
  EXPECT_EQ(index.size(), kMany);
  for (std::uint32_t i = 0; i < kMany; ++i)
    ASSERT_EQ(index.find(kTenant, kSpace, key_of(i, 0, 0, 1)), BlockId{i});
}

TEST(KeyIndex, AnInsertDoesNotWaitForTheSteps) {
  KeyIndex index(8);
  ASSERT_TRUE(index.reserve(kCount).is_ok());
  for (std::uint32_t i = 0; i < kCount; ++i)
    ASSERT_EQ(index.insert(kTenant, kSpace, key_of(i, 0, 0, 1), BlockId{i}), Code::kOk) << i;
  EXPECT_EQ(index.size(), kCount);
}

TEST(KeyIndex, AnAbsurdReservationIsRefusedNotThrown_L13) {
  KeyIndex index(5);
  const Status status = index.reserve(std::uint64_t{1} << 58);
  EXPECT_EQ(status.code(), Code::kNoSpace);
  EXPECT_NE(status.message().find("288230376151711744"), std::string::npos) << status.message();
  EXPECT_EQ(index.insert(kTenant, kSpace, key_of(1, 0, 0, 0), BlockId{1}), Code::kOk) << "it goes on";
}

TEST(KeyIndex, AFailedAllocationIsNoSpaceAndTheIndexLives_L13) {
#ifdef KVTIER_FAULTS
  KeyIndex index(5);
  ASSERT_TRUE(fault_arm("index.insert=fail@2", 1));
  EXPECT_EQ(index.insert(kTenant, kSpace, key_of(1, 0, 0, 0), BlockId{1}), Code::kOk);
  EXPECT_EQ(index.insert(kTenant, kSpace, key_of(2, 0, 0, 0), BlockId{2}), Code::kNoSpace);
  EXPECT_EQ(index.insert(kTenant, kSpace, key_of(2, 0, 0, 0), BlockId{2}), Code::kOk);
  ASSERT_TRUE(fault_arm("", 1));
#else
  GTEST_SKIP() << "needs a fault build (-DKVTIER_FAULTS=ON)";
#endif
}

}  // namespace
}  // namespace kvtier
