#include "daemon/disk/format_superblock.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/prng.h"
#include "tests/unit/disk/example_store.h"

namespace kvtier {
namespace {

/// The superblock area of a file: each copy's place has kHeaderBytesMax bytes.
class SuperblockArea {
 public:
  void write(const Superblock& superblock, std::uint32_t copy) {
    const SuperblockBytes bytes = encode_superblock(superblock, copy);
    std::copy(bytes.begin(), bytes.end(), places_[copy].begin());
  }
  void write_all(const Superblock& superblock) {
    for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) write(superblock, copy);
  }
  std::span<std::byte> place(std::uint32_t copy) { return places_[copy]; }
  [[nodiscard]] Result<SuperblockChoice> choose() const {
    SuperblockCopies copies;
    for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) copies[copy] = places_[copy];
    return choose_superblock(copies);
  }

 private:
  std::array<std::array<std::byte, kHeaderBytesMax>, kSuperblockCopies> places_{};
};

Superblock revision(std::uint64_t number) {
  Superblock block = test::example_store().superblock;
  block.revision = number;
  block.epoch = number;
  return block;
}

void damage(std::span<std::byte> bytes, std::size_t at) {
  bytes[at] ^= std::byte{0x10};
}

void reseal(std::span<std::byte> bytes, std::uint32_t version) {
  FormatPrefix prefix{kSuperblockMagic, version, sizeof(Superblock),
                      seal_checksum(kSuperblockMagic, version, bytes.first(sizeof(Superblock)))};
  std::memcpy(bytes.data(), &prefix, sizeof prefix);
}

TEST(Superblock, EveryFieldComesBack) {
  const Superblock written = test::example_store().superblock;
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    Superblock read{};
    ASSERT_EQ(verify_superblock(encode_superblock(written, copy), copy, read), DiskFault::kNone);
    EXPECT_EQ(read.copy, copy);
    Superblock expected = written;
    expected.prefix = read.prefix;
    expected.copy = copy;
    EXPECT_EQ(std::memcmp(&read, &expected, sizeof read), 0);
  }
}

// Of before the time of birth had its place in what was reserved: the same bytes, and zero there.
TEST(Superblock, OneWithoutATimeOfBirthIsWhatItWas) {
  Superblock written = test::example_store().superblock;
  written.home_birth_ns = 0;
  const SuperblockBytes bytes = encode_superblock(written, 1);
  EXPECT_EQ(read_prefix(bytes).checksum, 0x44b33371530e0e81U);
  Superblock read{};
  EXPECT_EQ(verify_superblock(bytes, 1, read), DiskFault::kNone);
  EXPECT_EQ(read.home_birth_ns, 0U);
}

TEST(Superblock, ACopyCountsInItsPlaceAlone) {
  Superblock read{};
  EXPECT_EQ(verify_superblock(encode_superblock(revision(1), 2), 1, read), DiskFault::kMisplaced);
}

TEST(Superblock, NothingWrittenIsANewStore) {
  const SuperblockArea area;
  ASSERT_TRUE(area.choose().is_ok());
  EXPECT_TRUE(area.choose().value().is_new);
  const Result<SuperblockChoice> no_file = choose_superblock({});
  ASSERT_TRUE(no_file.is_ok());
  EXPECT_TRUE(no_file.value().is_new);
}

TEST(Superblock, TheHighestIntactRevisionCounts) {
  SuperblockArea area;
  area.write_all(revision(4));
  EXPECT_FALSE(area.choose().value().needs_repair);
  area.write(revision(5), 2);
  EXPECT_EQ(area.choose().value().superblock.revision, 5U);
  EXPECT_TRUE(area.choose().value().needs_repair);
  damage(area.place(2), 100);
  const SuperblockChoice choice = area.choose().value();
  EXPECT_EQ(choice.superblock.revision, 4U);
  EXPECT_EQ(choice.faults[2], DiskFault::kHeaderDamaged);
  EXPECT_TRUE(choice.needs_repair);
}

// Order of an update: 0 and 1, flush, 2 and 3, flush. What is in flight may end as anything.
TEST(Superblock, AnUpdateTornAnywhereLeavesTheOldOrTheNew) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Prng prng(seed);
    SuperblockArea area;
    area.write_all(revision(7));
    const auto done = static_cast<std::uint32_t>(2 * prng.below(2));
    for (std::uint32_t copy = 0; copy < done; ++copy) area.write(revision(8), copy);
    for (std::uint32_t copy = done; copy < done + 2; ++copy) {
      area.write(revision(8), copy);
      for (std::byte& byte : area.place(copy).subspan(prng.below(kSectorBytes)))
        byte = std::byte(prng.next());
    }
    const Result<SuperblockChoice> choice = area.choose();
    ASSERT_TRUE(choice.is_ok()) << choice.status().to_string() << " seed " << seed;
    EXPECT_GE(choice.value().superblock.revision, done == 0 ? 7U : 8U) << "seed " << seed;
    EXPECT_LE(choice.value().superblock.revision, 8U) << "seed " << seed;
  }
}

// Bit by bit: a flip is damage, of that copy alone, and never another version.
TEST(Superblock, EveryFlippedBitIsFound) {
  const SuperblockBytes intact = encode_superblock(revision(3), 0);
  for (std::size_t bit = 0; bit < intact.size() * 8; ++bit) {
    std::array<std::byte, kHeaderBytesMax> bytes{};
    std::copy(intact.begin(), intact.end(), bytes.begin());
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    Superblock read{};
    EXPECT_EQ(verify_superblock(bytes, 0, read), DiskFault::kHeaderDamaged) << "bit " << bit;
  }
}

TEST(Superblock, AnUnknownVersionIsRefusedWithBothNumbersAndWhatToDo) {
  SuperblockArea area;
  area.write_all(revision(3));
  reseal(area.place(3), kFormatVersion + 1);
  const Result<SuperblockChoice> choice = area.choose();
  ASSERT_EQ(choice.code(), Code::kVersion);
  const std::string& message = choice.status().message();
  EXPECT_NE(message.find("copy 3 has format version " + std::to_string(kFormatVersion + 1)),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("knows version " + std::to_string(kFormatVersion)), std::string::npos) << message;
  EXPECT_NE(message.find("Nothing was changed"), std::string::npos) << message;
}

TEST(Superblock, ALongerOneOfALaterVersionIsToldFromDamage) {
  SuperblockArea area;
  area.write_all(revision(3));
  const std::span<std::byte> longer = area.place(0).first(1024);
  FormatPrefix prefix{kSuperblockMagic, 9, 1024, seal_checksum(kSuperblockMagic, 9, longer)};
  std::memcpy(longer.data(), &prefix, sizeof prefix);
  EXPECT_EQ(area.choose().code(), Code::kVersion);
}

TEST(Superblock, AForeignFileIsRefused) {
  SuperblockArea area;
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    std::memcpy(area.place(copy).data(), "SQLite format 3", 16);
  }
  EXPECT_EQ(area.choose().code(), Code::kInvalid);
  const std::vector<std::byte> text(100, std::byte{'x'});
  EXPECT_EQ(choose_superblock({std::span(text)}).code(), Code::kInvalid);
}

TEST(Superblock, AllCopiesDamagedIsRefused) {
  SuperblockArea area;
  area.write_all(revision(3));
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) damage(area.place(copy), 30);
  EXPECT_EQ(area.choose().code(), Code::kCorrupt);
}

TEST(Superblock, D15_CopiesOfTwoStoresOrTwoWritersAreRefused) {
  SuperblockArea area;
  area.write_all(revision(3));
  Superblock other = revision(9);
  other.store = {{5, 6}};
  area.write(other, 1);
  EXPECT_EQ(area.choose().code(), Code::kInvalid);
  area.write_all(revision(3));
  other = revision(4);
  other.path = 1;
  area.write(other, 2);
  EXPECT_EQ(area.choose().code(), Code::kInvalid);
  area.write_all(revision(3));
  other = revision(3);
  other.epoch = 17;
  area.write(other, 3);
  EXPECT_EQ(area.choose().code(), Code::kInvalid);
}

TEST(Superblock, IntactFieldsThatContradictAreMalformed) {
  using Change = void (*)(Superblock&);
  const std::vector<Change> changes = {
      [](Superblock& s) { s.alignment = 5000; },
      [](Superblock& s) { s.alignment = 2048; },
      [](Superblock& s) { s.alignment = 131072; },
      [](Superblock& s) { s.segment_bytes += 512; },
      [](Superblock& s) { s.segment_bytes = 7 * 4096; },
      [](Superblock& s) { s.segment_bytes = 2 * kSegmentBytesMax; },
      [](Superblock& s) { s.segment_count = 0; },
      [](Superblock& s) { s.path = s.path_count; },
      [](Superblock& s) { s.path_count = kPathsMax + 1; },
      [](Superblock& s) { s.revision = 0; },
      [](Superblock& s) { s.closed_epoch = s.epoch + 1; },
      [](Superblock& s) { s.store = {}; },
      [](Superblock& s) { s.given_up = std::uint64_t{1} << s.path; },
      [](Superblock& s) { s.given_up = std::uint64_t{1} << s.path_count; },
      [](Superblock& s) { s.reserved.back() = std::byte{1}; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Superblock block = test::example_store().superblock;
    changes[i](block);
    std::array<std::byte, kHeaderBytesMax> bytes{};
    std::memcpy(bytes.data(), &block, sizeof block);
    reseal(bytes, kFormatVersion);
    Superblock read{};
    EXPECT_EQ(verify_superblock(bytes, 0, read), DiskFault::kMalformed) << "change " << i;
  }
}

}  // namespace
}  // namespace kvtier
