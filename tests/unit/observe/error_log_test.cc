#include "daemon/observe/error_log.h"

#include <gtest/gtest.h>

#include <thread>

#include "libkvclient/wire/counters_reader.h"
#include "tests/support/scratch_dir.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;

class ErrorLogTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<ErrorSample> stored() const {
    return CountersReader::open(path_).value().errors();
  }

  const test::ScratchDir folder_;
  const std::string path_ = folder_.file("c");
  ManualClock clock_;
  Counters counters_ = Counters::create({path_, "x", kStart, 3}, clock_).value();
  ErrorLog errors_{counters_, clock_};
};

TEST_F(ErrorLogTest, RepetitionsAreCountedWithFirstAndLastTime) {
  errors_.record(LogLevel::kError, "disk failed");
  clock_.advance(5 * kNsPerSecond);
  errors_.record(LogLevel::kWarn, "client refused");
  clock_.advance(5 * kNsPerSecond);
  EXPECT_EQ(errors_.record(LogLevel::kError, "disk failed").count, 2U);
  ASSERT_EQ(stored().size(), 2U);
  const ErrorSample disk = stored()[0];
  EXPECT_EQ(disk.text, "disk failed");
  EXPECT_EQ(disk.count, 2U);
  EXPECT_EQ(disk.first_realtime_ns, kStart);
  EXPECT_EQ(disk.last_realtime_ns, kStart + 10 * kNsPerSecond);
  EXPECT_EQ(disk.level, static_cast<std::uint32_t>(LogLevel::kError));
  EXPECT_EQ(stored()[1].count, 1U);
}

TEST_F(ErrorLogTest, PrintIsDueAtFirstAndThenOncePerPeriod) {
  EXPECT_TRUE(errors_.record(LogLevel::kError, "e").is_print_due);
  for (int i = 0; i < 99; ++i) EXPECT_FALSE(errors_.record(LogLevel::kError, "e").is_print_due);
  clock_.advance(ErrorLog::kPrintPeriodNs);
  const ErrorLog::Seen seen = errors_.record(LogLevel::kError, "e");
  EXPECT_TRUE(seen.is_print_due);
  EXPECT_EQ(seen.unprinted, 99U);
  EXPECT_EQ(seen.count, 101U);
  EXPECT_FALSE(errors_.record(LogLevel::kError, "e").is_print_due);
}

TEST_F(ErrorLogTest, AnotherDetailIsDueAtOnceAndCountedWithTheSameError) {
  EXPECT_TRUE(errors_.record(LogLevel::kError, "refused", "why=a").is_print_due);
  EXPECT_TRUE(errors_.record(LogLevel::kError, "refused", "why=b").is_print_due);
  EXPECT_FALSE(errors_.record(LogLevel::kError, "refused", "why=a").is_print_due);
  clock_.advance(ErrorLog::kPrintPeriodNs);
  const ErrorLog::Seen b = errors_.record(LogLevel::kError, "refused", "why=b");
  EXPECT_TRUE(b.is_print_due);
  EXPECT_EQ(b.unprinted, 0U);
  EXPECT_EQ(b.count, 4U);
  EXPECT_EQ(errors_.record(LogLevel::kError, "refused", "why=a").unprinted, 1U);
  EXPECT_EQ(stored().size(), 1U);
}

// A peer that chooses its details fills neither the log nor our memory, and what was held back is told.
TEST_F(ErrorLogTest, DetailsOfAnErrorAreBounded) {
  const auto record = [&](std::size_t i) {
    return errors_.record(LogLevel::kError, "refused", std::to_string(i));
  };
  for (std::size_t i = 0; i < ErrorLog::kDetailsMax; ++i) EXPECT_TRUE(record(i).is_print_due);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_FALSE(record(ErrorLog::kDetailsMax + i).is_print_due);
  EXPECT_FALSE(record(0).is_print_due);
  clock_.advance(ErrorLog::kPrintPeriodNs);
  const ErrorLog::Seen seen = record(5000);
  EXPECT_TRUE(seen.is_print_due);
  EXPECT_EQ(seen.unprinted_other, 1001U);
}

TEST_F(ErrorLogTest, FullLogCountsTheRest) {
  for (const char* text : {"a", "b", "c", "d", "e"}) errors_.record(LogLevel::kError, text);
  EXPECT_EQ(stored().size(), 3U);
  EXPECT_EQ(CountersReader::open(path_).value().errors_other_count(), 2U);
  EXPECT_EQ(errors_.record(LogLevel::kError, "b").count, 2U);
}

TEST_F(ErrorLogTest, LongTextsAreCut) {
  const std::string text(5000, 'x');
  errors_.record(LogLevel::kError, text);
  EXPECT_EQ(errors_.record(LogLevel::kError, text).count, 2U);
  EXPECT_EQ(stored()[0].text.size(), sizeof ErrorRecord::text);
}

TEST_F(ErrorLogTest, ThreadsLoseNothing) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) errors_.record(LogLevel::kError, n % 2 == 0 ? "even" : "odd");
    });
  }
  for (int i = 0; i < 100; ++i) EXPECT_LE(stored().size(), 2U);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored()[0].count + stored()[1].count, 2000U);
}

}  // namespace
}  // namespace kvtier
