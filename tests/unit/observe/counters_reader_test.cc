// The reader takes the file's bytes for what they are: input.
#include "libkvclient/wire/counters_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "daemon/observe/counters.h"
#include "libkvclient/base/prng.h"
#include "tests/support/scratch_dir.h"

namespace kvtier {
namespace {

class CountersReaderTest : public ::testing::Test {
 protected:
  CountersReaderTest() {
    const ManualClock clock;
    const Counters counters = Counters::create({path_, "x", 1, 8}, clock).value();
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    original_ = text.str();
  }
  [[nodiscard]] Code open_code(const std::string& bytes) const {
    std::ofstream(path_, std::ios::trunc) << bytes;
    return CountersReader::open(path_).code();
  }
  template <class T>
  [[nodiscard]] std::string with(std::size_t offset, T value) const {
    std::string bytes = original_;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return bytes;
  }

  const test::ScratchDir folder_;
  const std::string path_ = folder_.file("c");
  std::string original_;
};

TEST_F(CountersReaderTest, NoFile) {
  const Result<CountersReader> reader = CountersReader::open(folder_.file("none"));
  EXPECT_EQ(reader.code(), Code::kNotFound);
  EXPECT_NE(reader.status().message().find("is the daemon running?"), std::string::npos);
}

TEST_F(CountersReaderTest, NotRegular) {
  EXPECT_EQ(CountersReader::open("/dev/zero").code(), Code::kCorrupt);
  ASSERT_EQ(mkfifo((folder_.file("fifo")).c_str(), 0600), 0);
  EXPECT_EQ(CountersReader::open(folder_.file("fifo")).code(), Code::kCorrupt);
}

TEST_F(CountersReaderTest, WrongHeaders) {
  EXPECT_EQ(open_code(original_), Code::kOk);
  EXPECT_EQ(open_code(""), Code::kCorrupt);
  EXPECT_EQ(open_code(original_.substr(0, 100)), Code::kCorrupt);
  EXPECT_EQ(open_code(original_.substr(0, original_.size() - 1)), Code::kCorrupt);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, magic), std::uint64_t{1})), Code::kCorrupt);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, version), std::uint32_t{0})), Code::kBusy);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, version), std::uint32_t{2})), Code::kVersion);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, counters_count), ~std::uint32_t{0})), Code::kCorrupt);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, metadata_offset), ~std::uint64_t{7})), Code::kCorrupt);
  EXPECT_EQ(open_code(with(offsetof(CountersHeader, errors_offset), std::uint64_t{3})), Code::kCorrupt);
}

TEST_F(CountersReaderTest, ScribbledFilesNeverLeadOutOfRange) {
  Prng chance(7);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = original_;
    for (int i = 0; i < 20; ++i) bytes[chance.below(bytes.size())] = static_cast<char>(chance.next());
    if (round % 2 == 0) bytes[16 + chance.below(100)] = static_cast<char>(chance.next());
    std::ofstream(path_, std::ios::trunc) << bytes;
    const Result<CountersReader> reader = CountersReader::open(path_);
    if (!reader.is_ok()) continue;
    EXPECT_LE(reader.value().read().size(), kCounterCount + 256);
    EXPECT_LE(reader.value().errors().size(), 256U);
    EXPECT_LE(reader.value().identity().instance.size(), 64U);
  }
}

}  // namespace
}  // namespace kvtier
