#include "daemon/observe/log.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/observe/journal.h"
#include "daemon/observe/log_text.h"

namespace kvtier {
namespace {

class LogTest : public ::testing::Test {
 protected:
  [[nodiscard]] LogOptions options(bool is_json = false) {
    LogOptions made;
    made.is_json = is_json;
    made.stream = &stream_;
    return made;
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    std::istringstream text(stream_.str());
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }

  std::ostringstream stream_;
};

TEST_F(LogTest, TextLine) {
  Log log(options());
  log.info("host tier ready",
           {{"bytes", 5U}, {"delta", -3}, {"share", 0.5}, {"locked", true}, {"cause", "two words"}});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_TRUE(lines()[0].ends_with(
      "info    host tier ready bytes=5 delta=-3 share=0.5 locked=true cause=\"two words\""))
      << lines()[0];
  EXPECT_EQ(lines()[0].substr(10, 1), "T");
}

TEST_F(LogTest, JsonLineParses) {
  Log log(options(true));
  log.warn("odd \"name\"\n", {{"name", "a\\b\x01"},
                              {"count", 18446744073709551615ULL},
                              {"ok", false},
                              {"nan", std::numeric_limits<double>::quiet_NaN()},
                              {"word", "infinite"}});
  const nlohmann::json line = nlohmann::json::parse(lines().at(0));
  EXPECT_EQ(line.at("level"), "warning");
  EXPECT_EQ(line.at("message"), "odd \"name\"\n");
  EXPECT_EQ(line.at("name"), "a\\b\x01");
  EXPECT_EQ(line.at("count"), 18446744073709551615ULL);
  EXPECT_EQ(line.at("ok"), false);
  EXPECT_EQ(line.at("nan"), "nan");
  EXPECT_EQ(line.at("word"), "infinite");
}

// A name that a client chose can neither begin a line of its own nor steer a terminal.
TEST_F(LogTest, ValuesCannotForgeLines) {
  Log log(options());
  log.info("client", {{"name", "x\n2020-01-01 error disk failed"}, {"colour", "\x1b[31m"}});
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_NE(lines()[0].find("x\\n2020"), std::string::npos);
  EXPECT_EQ(lines()[0].find('\x1b'), std::string::npos);
}

TEST_F(LogTest, LongValuesAreCut) {
  const std::string name(100'000, 'x');
  Log log(options());
  log.info("client", {{"name", std::string_view(name)}});
  EXPECT_LT(lines().at(0).size(), 1200U);
}

TEST_F(LogTest, LevelsChangeAtRunTime) {
  Log log(options());
  log.debug("hidden");
  EXPECT_FALSE(log.is_on(LogLevel::kDebug));
  log.set_level(LogLevel::kDebug);
  log.debug("shown");
  log.set_level(LogLevel::kOff);
  log.error("hidden");
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_TRUE(lines()[0].ends_with("shown"));
}

TEST_F(LogTest, RepeatedErrorsAreHeldBackAndCounted) {
  ManualClock clock;
  Counters counters = Counters::create({}, clock).value();
  ErrorLog errors(counters, clock);
  Log log(options(), &errors, &counters);
  for (int i = 0; i < 50; ++i) log.error("write failed", {{"slot", i}});
  clock.advance(ErrorLog::kPrintPeriodNs);
  log.error("write failed", {{"slot", 50}});
  log.info("not held back");
  log.info("not held back");
  ASSERT_EQ(lines().size(), 4U);
  EXPECT_TRUE(lines()[0].ends_with("write failed slot=0"));
  EXPECT_TRUE(lines()[1].ends_with("write failed slot=50 repeated=49"));
  EXPECT_EQ(counters.get(Counter::kLogLines), 4U);
  EXPECT_EQ(counters.get(Counter::kLogSuppressed), 49U);
}

// Two mistakes of one kind within seconds are two lines; the same one again, by another process, is none.
TEST_F(LogTest, DifferentTextsAreDifferentEvents) {
  ManualClock clock;
  Counters counters = Counters::create({}, clock).value();
  ErrorLog errors(counters, clock);
  Log log(options(), &errors, &counters);
  log.warn("client refused", {{"pid", 1}, {"why", "no namespace a"}});
  log.warn("client refused", {{"pid", 2}, {"why", "no namespace b"}});
  log.warn("client refused", {{"pid", 3}, {"why", "no namespace a"}});
  ASSERT_EQ(lines().size(), 2U);
  EXPECT_TRUE(lines()[1].ends_with("pid=2 why=\"no namespace b\"")) << lines()[1];
  clock.advance(ErrorLog::kPrintPeriodNs);
  log.warn("client refused", {{"pid", 4}, {"why", "no namespace a"}});
  EXPECT_TRUE(lines().at(2).ends_with("repeated=1")) << lines()[2];
}

TEST_F(LogTest, JournalThatIsNotThereIsNoError) {
  const LogField fields[] = {{"answer", 42}};
  static_cast<void>(journal_send(LogLevel::kInfo, "test of the journal adapter", fields));
  LogOptions to_journal;
  to_journal.target = LogTarget::kJournal;
  Log log(to_journal);
  log.info("test of the journal adapter", {{"answer", 42}});
}

}  // namespace
}  // namespace kvtier
