// SPACES.md: the golden file, torn tails, damage, versions.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "daemon/disk/format_seal.h"
#include "daemon/tier/space_format.h"
#include "tests/unit/tier/tier_world.h"

namespace kvtier::test {
namespace {

using Bytes = std::vector<std::byte>;

const DiskSpace& example(int number) {
  static const auto first = world_space("default", "1", NamespaceId::kNone, SpaceId::kNone);
  static const auto second = world_space("tenant-b", "1", NamespaceId::kNone, SpaceId::kNone);
  static const auto third = world_space("default", "2", NamespaceId::kNone, SpaceId::kNone);
  return number == 0 ? *first : number == 1 ? *second : *third;
}

void append(Bytes& file, const DiskSpace& space) {
  Bytes record = encode_space_record(space);
  place_space_record(record, file.size());
  file.insert(file.end(), record.begin(), record.end());
}

Bytes example_file(int count = 3) {
  Bytes file = encode_spaces_header();
  for (int i = 0; i < count; ++i) append(file, example(i));
  return file;
}

std::vector<std::string> names(const SpacesFile& file) {
  std::vector<std::string> list;
  for (const DiskSpace& space : file.spaces)
    list.push_back(space.namespace_name + " " + to_hex(space.digest));
  return list;
}

std::string name_of(int number) {
  return example(number).namespace_name + " " + to_hex(example(number).digest);
}

TEST(SpaceFormat, TheGoldenFileIsWhatIsWrittenAndRead) {
  const std::string path = KVTIER_SOURCE_DIR "/tests/unit/tier/golden/spaces_v1.bin";
  const Bytes file = example_file();
  if (std::getenv("KVTIER_UPDATE_GOLDEN") != nullptr) {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_EQ(text.size(), file.size());
  EXPECT_EQ(std::memcmp(text.data(), file.data(), file.size()), 0);
  const Result<SpacesFile> read = parse_spaces(std::as_bytes(std::span(text)));
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(names(read.value()), (std::vector<std::string>{name_of(0), name_of(1), name_of(2)}));
  EXPECT_EQ(read.value().spaces[0].block_bytes, kWorldBlockBytes);
  EXPECT_EQ(read.value().spaces[0].encoding, example(0).encoding);
  EXPECT_EQ(read.value().end, file.size());
  EXPECT_EQ(read.value().corrupt_count, 0U);
}

TEST(SpaceFormat, ATailThatWasTornAnywhereIsCut) {
  const Bytes file = example_file();
  const std::size_t whole = example_file(2).size();
  for (std::size_t size = whole; size < file.size(); ++size) {
    const Result<SpacesFile> read = parse_spaces(std::span(file).first(size));
    ASSERT_TRUE(read.is_ok());
    EXPECT_EQ(read.value().spaces.size(), 2U) << size;
    EXPECT_EQ(read.value().end, whole);
    EXPECT_EQ(read.value().is_cut, size != whole);
    EXPECT_EQ(read.value().corrupt_count, 0U);
  }
}

TEST(SpaceFormat, ABeginningThatWasTornIsBegunAnew) {
  const Bytes file = encode_spaces_header();
  for (std::size_t size = 0; size < file.size(); ++size) {
    const Result<SpacesFile> read = parse_spaces(std::span(file).first(size));
    ASSERT_TRUE(read.is_ok());
    EXPECT_EQ(read.value().end, 0U);
  }
}

// Every byte of the second record in turn: the first and the third are found all the same.
TEST(SpaceFormat, ADamagedRecordIsSkippedAndCounted) {
  const Bytes file = example_file();
  for (std::size_t at = example_file(1).size(); at < example_file(2).size(); ++at) {
    Bytes damaged = file;
    damaged[at] ^= std::byte{0x40};
    const Result<SpacesFile> read = parse_spaces(damaged);
    ASSERT_TRUE(read.is_ok()) << at;
    EXPECT_EQ(names(read.value()), (std::vector<std::string>{name_of(0), name_of(2)})) << at;
    EXPECT_EQ(read.value().corrupt_count, 1U) << at;
    EXPECT_EQ(read.value().end, file.size());
  }
}

TEST(SpaceFormat, ADamagedHeaderOfTheFileHidesNothing) {
  Bytes file = example_file();
  file[3] ^= std::byte{1};
  const Result<SpacesFile> read = parse_spaces(file);
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(read.value().spaces.size(), 3U);
  EXPECT_EQ(read.value().corrupt_count, 1U);
}

void set_version(std::span<std::byte> sealed, std::uint64_t magic) {
  FormatPrefix prefix = read_prefix(sealed);
  prefix.version = kFormatVersion + 1;
  prefix.checksum = seal_checksum(magic, prefix.version, sealed);
  std::memcpy(sealed.data(), &prefix, sizeof prefix);
}

TEST(SpaceFormat, AnotherVersionIsRefused) {
  Bytes file = example_file();
  set_version(std::span(file).first(sizeof(SpacesHeader)), kSpacesMagic);
  EXPECT_EQ(parse_spaces(file).code(), Code::kVersion);
  file = example_file();
  set_version(std::span(file).subspan(example_file(1).size(), sizeof(SpaceRecordHeader)), kSpaceMagic);
  EXPECT_EQ(parse_spaces(file).code(), Code::kVersion);
}

TEST(SpaceFormat, ARecordElsewhereIsNone) {
  Bytes file = example_file(1);
  Bytes record = encode_space_record(example(1));
  place_space_record(record, 4096);
  file.insert(file.end(), record.begin(), record.end());
  append(file, example(2));
  const Result<SpacesFile> read = parse_spaces(file);
  ASSERT_TRUE(read.is_ok());
  EXPECT_EQ(names(read.value()), (std::vector<std::string>{name_of(0), name_of(2)}));
  EXPECT_EQ(read.value().corrupt_count, 1U);
}

TEST(SpaceFormat, TwoRecordsOfOneSpaceAreOne) {
  Bytes file = example_file();
  append(file, example(1));
  EXPECT_EQ(parse_spaces(file).value().spaces.size(), 3U);
}

}  // namespace
}  // namespace kvtier::test
