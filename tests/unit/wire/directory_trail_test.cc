// A trail is a guess: the answers are those of a full search, whatever became of the directory since.

#include "libkvclient/wire/directory_trail.h"

#include <gtest/gtest.h>

#include <vector>

#include "libkvclient/base/prng.h"
#include "libkvclient/wire/directory_reader.h"
#include "libkvclient/wire/directory_writer.h"
#include "tests/unit/wire/zeroed_memory.h"

namespace kvtier {
namespace {

constexpr SpaceId kSpace{7};
constexpr std::uint64_t kBlocks = 1'000;

Key key_of(std::uint64_t number) {
  return {{mix64(number + 1), mix64(number + 2), mix64(number + 3), number}};
}

EntryView entry_of(std::uint64_t number) {
  return {kSpace, key_of(number), {.host = {{static_cast<std::uint32_t>(number)}, number + 1}}};
}

std::vector<Key> keys_of(std::uint64_t first, std::size_t count) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(key_of(first + i));
  return keys;
}

class DirectoryTrailTest : public testing::Test {
 protected:
  DirectoryTrailTest() {
    for (std::uint64_t number = 0; number < kBlocks; number += 2) insert(number);
  }

  void insert(std::uint64_t number) { ASSERT_EQ(writer_.insert(entry_of(number)), Code::kOk); }
  void remove(std::uint64_t number) { ASSERT_EQ(writer_.remove(kSpace, key_of(number)), Code::kOk); }

  void leave_trail(std::span<const Key> keys) {
    reader_.find_chunks(
        kSpace, keys, [](std::size_t, bool, const Residency&) { return true; },
        [](std::size_t, std::size_t) {}, &trail_);
  }

  /// Along the trail, each answer compared to a single find. Returns how many were found.
  std::size_t follow(std::span<const Key> keys) {
    std::size_t found_count = 0;
    std::size_t next = 0;
    reader_.find_along(
        trail_, kSpace, keys,
        [&](std::size_t i, bool found, const Residency& at) {
          Residency wanted;
          EXPECT_EQ(found, reader_.find(kSpace, keys[i], wanted)) << i;
          EXPECT_TRUE(!found || at == wanted) << i;
          found_count += found ? 1 : 0;
          return true;
        },
        [&](std::size_t first, std::size_t count) {
          EXPECT_EQ(first, next);
          next = first + count;
        });
    EXPECT_EQ(next, keys.size());
    return found_count;
  }

  ZeroedMemory memory_{DirectoryLayout::bytes_for(kBlocks)};
  DirectoryWriter writer_ = DirectoryWriter::create(memory_.span(), kBlocks, 42).value();
  DirectoryReader reader_ = DirectoryReader::attach(memory_.span()).value();
  DirectoryTrail trail_;
};

TEST_F(DirectoryTrailTest, LeadsToTheSameAnswers) {
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 200U, 512U}) {
    const std::vector<Key> keys = keys_of(0, count);
    leave_trail(keys);
    ASSERT_TRUE(trail_.leads(reader_.id(), keys));
    EXPECT_EQ(follow(keys), (count + 1) / 2);
    EXPECT_EQ(follow(std::span(keys).first(count / 2)), (count / 2 + 1) / 2) << "fewer keys";
  }
}

TEST_F(DirectoryTrailTest, IsNoneForOtherKeysOrDirectoriesOrTooMany) {
  const std::vector<Key> keys = keys_of(0, 40);
  EXPECT_FALSE(trail_.leads(reader_.id(), keys));
  leave_trail(keys);
  EXPECT_TRUE(trail_.leads(reader_.id(), keys_of(0, 40))) << "wherever they lie";
  EXPECT_FALSE(trail_.leads(reader_.id(), keys_of(0, 41)));
  EXPECT_FALSE(trail_.leads(reader_.id(), keys_of(1, 40)));
  EXPECT_FALSE(trail_.leads(this, keys));
  const std::vector<Key> many = keys_of(0, DirectoryTrail::kKeysMax + 1);
  leave_trail(many);
  EXPECT_FALSE(trail_.leads(reader_.id(), many));
  EXPECT_TRUE(trail_.leads(reader_.id(), std::span(many).first(DirectoryTrail::kKeysMax)));
}

TEST_F(DirectoryTrailTest, WhatWentIsMissedAndWhatCameIsFound) {
  const std::vector<Key> keys = keys_of(0, 100);
  leave_trail(keys);
  for (std::uint64_t number = 0; number < 100; number += 4) remove(number);
  for (std::uint64_t number = 1; number < 100; number += 4) insert(number);
  EXPECT_EQ(follow(keys), 50U);
}

// An engine fills its buffer with the next prompt's keys: the old trail would lead each to a search without passes.
TEST_F(DirectoryTrailTest, IsNoneForOtherKeysInTheSameBuffer) {
  std::vector<Key> keys = keys_of(0, 100);
  leave_trail(keys);
  keys[99] = key_of(500);
  EXPECT_FALSE(trail_.leads(reader_.id(), keys));
  EXPECT_TRUE(trail_.leads(reader_.id(), std::span(keys).first(99)));
}

// Whatever it is asked for: the entries decide.
TEST_F(DirectoryTrailTest, ALyingTrailCostsNoAnswer) {
  leave_trail(keys_of(0, 100));
  EXPECT_EQ(follow(keys_of(500, 100)), 50U);
}

TEST_F(DirectoryTrailTest, EndsWhereTheLookEnded) {
  const std::vector<Key> keys = keys_of(0, 100);
  reader_.find_chunks(
      kSpace, keys, [](std::size_t i, bool, const Residency&) { return i < 40; },
      [](std::size_t, std::size_t) {}, &trail_);
  EXPECT_TRUE(trail_.leads(reader_.id(), std::span(keys).first(64))) << "whole chunks";
  EXPECT_FALSE(trail_.leads(reader_.id(), keys));
}

}  // namespace
}  // namespace kvtier
