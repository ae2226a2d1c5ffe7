#include "libkvclient/wire/directory_reader.h"
#include "libkvclient/wire/directory_writer.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "libkvclient/base/prng.h"
#include "tests/unit/wire/zeroed_memory.h"

namespace kvtier {
namespace {

constexpr SpaceId kSpace{7};

Key key_of(std::uint64_t number) {
  return {{mix64(number + 1), mix64(number + 2), mix64(number + 3), number}};
}

Residency residency_of(std::uint64_t number) {
  return {.host = {{static_cast<std::uint32_t>(number)}, (number + 1) & kGenerationMax},
          .gpu = {{static_cast<std::uint32_t>(number * 3)}, (number * 5) & kGenerationMax},
          .host_flags = static_cast<std::uint32_t>(number) & kResidencyFlagsMask,
          .gpu_flags = static_cast<std::uint32_t>(number * 7) & kResidencyFlagsMask};
}

EntryView entry_of(std::uint64_t number) {
  return {kSpace, key_of(number), residency_of(number)};
}

struct Directory {
  explicit Directory(std::uint64_t capacity)
      : memory(DirectoryLayout::bytes_for(capacity)),
        writer(DirectoryWriter::create(memory.span(), capacity, 42).value()),
        reader(DirectoryReader::attach(memory.span()).value()) {}

  [[nodiscard]] std::span<DirectoryIndex::Word> index() const {
    auto* words = reinterpret_cast<DirectoryIndex::Word*>(memory.span().data() + sizeof(DirectoryHeader));
    return {words, DirectoryLayout::index_words(writer.capacity())};
  }
  [[nodiscard]] std::span<DirectoryLine> lines() const {
    const std::size_t offset = DirectoryLayout::entries_offset(writer.capacity());
    return {reinterpret_cast<DirectoryLine*>(memory.span().data() + offset), writer.capacity()};
  }

  bool both_find(std::uint64_t number, Residency& at) const {
    Residency seen_by_writer;
    const bool found = reader.find(kSpace, key_of(number), at);
    EXPECT_EQ(writer.find(kSpace, key_of(number), seen_by_writer), found);
    if (found) {
      EXPECT_EQ(seen_by_writer, at);
    }
    return found;
  }

  ZeroedMemory memory;
  DirectoryWriter writer;
  DirectoryReader reader;
};

TEST(DirectoryTest, StoresEveryFieldInFull) {
  Directory directory(10);
  const Residency extreme{.host = {{0xffffffff}, kGenerationMax},
                          .gpu = {{0xfffffffe}, kGenerationMax - 1},
                          .host_flags = kResidencyFlagsMask,
                          .gpu_flags = 1};
  EXPECT_EQ(directory.writer.insert({kSpace, key_of(1), extreme}), Code::kOk);
  Residency at;
  ASSERT_TRUE(directory.both_find(1, at));
  EXPECT_EQ(at, extreme);
}

TEST(DirectoryTest, TellsSpacesAndKeysApart) {
  Directory directory(10);
  ASSERT_EQ(directory.writer.insert(entry_of(1)), Code::kOk);
  Residency at;
  EXPECT_FALSE(directory.reader.find(SpaceId{8}, key_of(1), at));
  EXPECT_FALSE(directory.reader.find(SpaceId::kNone, Key{}, at));
  for (unsigned word = 0; word < 4; ++word) {
    Key key = key_of(1);
    key.words[word] ^= 1;
    EXPECT_FALSE(directory.reader.find(kSpace, key, at));
  }
}

TEST(DirectoryTest, AnswersWithTheCodeOfEachCase) {
  Directory directory(10);
  EXPECT_EQ(directory.writer.insert({SpaceId::kNone, key_of(1), {}}), Code::kInvalid);
  EXPECT_EQ(directory.writer.insert({kSpace, key_of(1), {.host_flags = 1U << 24}}), Code::kInvalid);
  EXPECT_EQ(directory.writer.insert({kSpace, key_of(1), {.gpu = {{}, kGenerationMax + 1}}}), Code::kInvalid);
  EXPECT_EQ(directory.writer.update(kSpace, key_of(1), {}), Code::kNotFound);
  EXPECT_EQ(directory.writer.remove(kSpace, key_of(1)), Code::kNotFound);
  EXPECT_EQ(directory.writer.insert(entry_of(1)), Code::kOk);
  EXPECT_EQ(directory.writer.insert(entry_of(1)), Code::kExists);
  EXPECT_EQ(directory.writer.size(), 1u);
  EXPECT_EQ(directory.writer.remove(kSpace, key_of(1)), Code::kOk);
  EXPECT_EQ(directory.writer.size(), 0u);
}

// Random operations against a map, held at a load of 0.75 for most of the run.
TEST(DirectoryTest, AgreesWithAMapUnderRandomOperations) {
  constexpr std::uint64_t kBlocks = 3'000;
  Directory directory(kBlocks);
  std::unordered_map<std::uint64_t, Residency> model;
  Prng prng(1);
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t number = prng.below(2 * kBlocks);
    const bool known = model.contains(number);
    const Residency at = residency_of(prng.next() >> 24);
    if (known && prng.below(2) == 0) {
      ASSERT_EQ(directory.writer.update(kSpace, key_of(number), at), Code::kOk);
      model[number] = at;
    } else if (known) {
      ASSERT_EQ(directory.writer.remove(kSpace, key_of(number)), Code::kOk);
      model.erase(number);
    } else if (model.size() < kBlocks) {
      ASSERT_EQ(directory.writer.insert({kSpace, key_of(number), at}), Code::kOk);
      model[number] = at;
    }
    const std::uint64_t probe = prng.below(2 * kBlocks);
    Residency found;
    const auto expected = model.find(probe);
    ASSERT_EQ(directory.both_find(probe, found), expected != model.end());
    if (expected != model.end()) {
      ASSERT_EQ(found, expected->second);
    }
  }
  EXPECT_EQ(directory.writer.size(), model.size());
  for (const auto& [number, at] : model) {
    Residency found;
    ASSERT_TRUE(directory.both_find(number, found));
    ASSERT_EQ(found, at);
  }
}

TEST(DirectoryTest, EmptiesWithoutTombstones) {
  Directory directory(100);
  for (int round = 0; round < 50; ++round) {
    for (std::uint64_t number = 0; number < 75; ++number) {
      ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
    }
    for (std::uint64_t number = 0; number < 75; ++number) {
      ASSERT_EQ(directory.writer.remove(kSpace, key_of(number)), Code::kOk);
    }
  }
  for (const auto& word : directory.index()) EXPECT_EQ(word.load(), 0u);
  for (const DirectoryLine& line : directory.lines()) EXPECT_EQ(line.own_tag(), 0u);
}

/// Keys that only differ in a regular pattern: the hash must spread them as if they were random.
class DirectoryStride : public testing::TestWithParam<int> {
 protected:
  static Key regular_key(int pattern, std::uint64_t number) {
    Key key{};
    if (pattern < 4) key.words[static_cast<std::size_t>(pattern)] = number;
    if (pattern >= 4 && pattern < 8) key.words[static_cast<std::size_t>(pattern - 4)] = number << 40;
    if (pattern == 8) key.words = {number, number, number, number};
    if (pattern == 9) key.words = {number, ~number, number << 32, number * 4096};
    if (pattern == 10) key.words[3] = number * 0x9e3779b97f4a7c15ULL;
    return key;
  }
};

TEST_P(DirectoryStride, FillsUpWithShortSearches) {
  constexpr std::uint64_t kBlocks = 30'000;
  Directory directory(kBlocks);
  for (std::uint64_t number = 1; number <= kBlocks; ++number) {
    const EntryView entry{kSpace, regular_key(GetParam(), number), residency_of(number)};
    ASSERT_EQ(directory.writer.insert(entry), Code::kOk) << number;
  }
  const DirectoryHash hash = DirectoryHash::of(42, kBlocks);
  std::uint64_t displacement_sum = 0;
  for (std::uint32_t place = 0; place < directory.index().size(); ++place) {
    const std::uint32_t word = directory.index()[place].load();
    if (word == 0) continue;
    const DirectoryLine& line = directory.lines()[(word & hash.number_mask) - 1];
    displacement_sum += place - hash.home(kSpace, Key{line.own_key()}).place;
  }
  // Linear probing of random keys at half load: half a word from home on average.
  EXPECT_LT(static_cast<double>(displacement_sum) / kBlocks, 0.6);
}

INSTANTIATE_TEST_SUITE_P(Patterns, DirectoryStride, testing::Range(0, 11));

TEST(DirectoryTest, AFullWindowSaysNoSpaceAndTheRestStaysFindable) {
  constexpr std::uint64_t kCapacity = 200;
  Directory directory(kCapacity);
  const DirectoryHash hash = DirectoryHash::of(42, kCapacity);
  std::vector<std::uint64_t> numbers;  // all with one home
  for (std::uint64_t number = 0; numbers.size() <= kDirectoryWindow; ++number) {
    if (hash.home(kSpace, key_of(number)).place == 17) numbers.push_back(number);
  }
  const std::uint64_t last = numbers.back();
  numbers.pop_back();
  for (const std::uint64_t number : numbers) ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
  EXPECT_EQ(directory.writer.insert(entry_of(last)), Code::kNoSpace);
  Residency at;
  EXPECT_FALSE(directory.both_find(last, at));
  ASSERT_EQ(directory.writer.remove(kSpace, key_of(numbers[3])), Code::kOk);
  EXPECT_EQ(directory.writer.insert(entry_of(last)), Code::kOk);
  EXPECT_TRUE(directory.both_find(last, at));
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(directory.both_find(numbers[i], at), i != 3);
}

// S-03: metadata lies in arrays of our own and not in a managed segment; full is an answer.
TEST(DirectoryTest, AFullDirectorySaysNoSpace) {
  Directory directory(3);
  for (std::uint64_t number = 0; number < 3; ++number) {
    ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
  }
  EXPECT_EQ(directory.writer.insert(entry_of(3)), Code::kNoSpace);
  ASSERT_EQ(directory.writer.remove(kSpace, key_of(1)), Code::kOk);
  EXPECT_EQ(directory.writer.insert(entry_of(3)), Code::kOk);
}

TEST(DirectoryTest, TheWholeKeyDecidesNotItsFingerprint) {
  Directory directory(2);
  const DirectoryHash hash = DirectoryHash::of(42, 2);
  ASSERT_EQ(directory.writer.insert(entry_of(0)), Code::kOk);
  // Every place of the index leads to that entry, under the fingerprint of a key that is not there.
  const std::uint32_t word = (hash.home(kSpace, key_of(1)).fingerprint & ~hash.number_mask) | 1U;
  for (auto& place : directory.index()) place.store(word);
  std::vector<Key> keys{key_of(1)};
  std::vector<Residency> at(1);
  EXPECT_EQ(directory.reader.find_batch(kSpace, keys, at), 0u);
}

TEST(DirectoryTest, BatchesFindWhatSingleFindsDo) {
  constexpr std::uint64_t kBlocks = 1'000;
  Directory directory(kBlocks);
  for (std::uint64_t number = 0; number < kBlocks; number += 2) {
    ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
  }
  for (const std::size_t size : {0u, 1u, 31u, 32u, 33u, 64u, 200u}) {
    std::vector<Key> keys;
    for (std::uint64_t number = 0; number < size; ++number) keys.push_back(key_of(number));
    std::vector<Residency> at(size);
    EXPECT_EQ(directory.reader.find_batch(kSpace, keys, at), (size + 1) / 2);
    for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(at[i], i % 2 == 0 ? residency_of(i) : Residency{});
  }
}

TEST(DirectoryTest, ChunksStopWhereTheCallerSays) {
  Directory directory(200);
  for (std::uint64_t number = 0; number < 70; ++number) {
    ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
  }
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < 200; ++number) keys.push_back(key_of(number));
  std::vector<std::size_t> chunks;
  const std::size_t looked_up = directory.reader.find_chunks(
      kSpace, keys, [](std::size_t, bool found, const Residency&) { return found; },
      [&](std::size_t first, std::size_t count) {
        chunks.insert(chunks.end(), {first, count});
      });
  EXPECT_EQ(looked_up, 71u);
  EXPECT_EQ(chunks, (std::vector<std::size_t>{0, 32, 32, 32, 64, 7}));
}

TEST(DirectoryTest, AttachRefusesWhatItCannotRead) {
  Directory directory(100);
  auto* header = reinterpret_cast<DirectoryHeader*>(directory.memory.span().data());
  const auto refused = [&](std::size_t bytes) {
    const auto reader = DirectoryReader::attach(directory.memory.span().first(bytes));
    EXPECT_FALSE(reader.is_ok());
    return reader.status();
  };
  const std::size_t all = directory.memory.span().size();
  EXPECT_EQ(refused(0).code(), Code::kCorrupt);
  EXPECT_EQ(refused(4096).code(), Code::kCorrupt);
  const std::size_t few = DirectoryLayout::bytes_for(99);
  const std::string both = std::to_string(DirectoryLayout::bytes_for(100)) + ", found " + std::to_string(few);
  EXPECT_EQ(refused(few).code(), Code::kCorrupt);
  EXPECT_NE(refused(few).message().find(both), std::string::npos) << refused(few).message();
  header->version.store(9);
  EXPECT_EQ(refused(all).code(), Code::kVersion);
  EXPECT_NE(refused(all).message().find("expected 1, found 9"), std::string::npos) << refused(all).message();
  header->version.store(kDirectoryVersion);
  header->capacity = ~std::uint64_t{0};
  EXPECT_EQ(refused(all).code(), Code::kCorrupt);
  header->capacity = 100;
  header->magic ^= 1;
  EXPECT_EQ(refused(all).code(), Code::kCorrupt);
}

TEST(DirectoryTest, AdoptionClearsAndRepairsHalfWrittenEntries) {
  Directory directory(100);
  for (std::uint64_t number = 0; number < 60; ++number) {
    ASSERT_EQ(directory.writer.insert(entry_of(number)), Code::kOk);
  }
  auto* header = reinterpret_cast<DirectoryHeader*>(directory.memory.span().data());
  for (std::size_t i = 0; i < 100; i += 3) directory.lines()[i].head.fetch_or(1);  // the daemon died here
  header->shift.fetch_add(1);
  auto adopted = DirectoryWriter::adopt(directory.memory.span());
  ASSERT_TRUE(adopted.is_ok());
  EXPECT_EQ(adopted.value().size(), 0u);
  Residency at;
  for (std::uint64_t number = 0; number < 60; ++number) {
    EXPECT_FALSE(directory.reader.find(kSpace, key_of(number), at));
    ASSERT_EQ(adopted.value().insert(entry_of(number)), Code::kOk);
    EXPECT_TRUE(directory.reader.find(kSpace, key_of(number), at));
  }
  EXPECT_EQ(header->shift.load() % 2, 0u);
}

TEST(DirectoryTest, MovedIsSeenByReaders) {
  Directory directory(10);
  EXPECT_FALSE(directory.reader.is_moved());
  directory.writer.mark_moved();
  EXPECT_TRUE(directory.reader.is_moved());
}

TEST(DirectoryTest, AnEntryThatIsNeverFinishedIsAMissNotAHang) {
  Directory directory(2);
  ASSERT_EQ(directory.writer.insert(entry_of(0)), Code::kOk);
  ASSERT_EQ(directory.writer.insert(entry_of(1)), Code::kOk);
  directory.lines()[0].head.fetch_add(1);
  Residency at;
  EXPECT_FALSE(directory.reader.find(kSpace, key_of(0), at));
  EXPECT_TRUE(directory.reader.find(kSpace, key_of(1), at));
}

TEST(DirectoryTest, AnEntryNumberBeyondTheMappingIsAMiss) {
  Directory directory(2);
  ASSERT_EQ(directory.writer.insert(entry_of(0)), Code::kOk);
  for (auto& word : directory.index()) word.fetch_or(3);
  std::vector<Key> keys{key_of(0)};
  std::vector<Residency> at(1);
  EXPECT_EQ(directory.reader.find_batch(kSpace, keys, at), 0u);
}

}  // namespace
}  // namespace kvtier
