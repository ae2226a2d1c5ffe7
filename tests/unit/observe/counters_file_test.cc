#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "daemon/observe/counters.h"
#include "libkvclient/wire/counters_reader.h"
#include "tests/support/scratch_dir.h"

namespace kvtier {
namespace {

class CountersFile : public ::testing::Test {
 protected:
  Counters make(const std::string& instance = "test-1") {
    return Counters::create({path_, instance, 1'700'000'000'000'000'000, 8}, clock_).value();
  }
  [[nodiscard]] std::uint64_t value_of(const std::string& name) const {
    const std::vector<CounterSample> samples = CountersReader::open(path_).value().read();
    return std::ranges::find(samples, name, &CounterSample::name)->value;
  }

  const test::ScratchDir folder_;
  const std::string path_ = folder_.file("kvtierd.counters");
  ManualClock clock_;
};

TEST_F(CountersFile, EveryCounterIsReadBack) {
  Counters counters = make();
  for (std::size_t i = 0; i < kCounterCount; ++i) counters.set(static_cast<Counter>(i), 1000 + i);
  const std::vector<CounterSample> samples = CountersReader::open(path_).value().read();
  ASSERT_EQ(samples.size(), kCounterCount);
  for (std::size_t i = 0; i < kCounterCount; ++i) {
    EXPECT_EQ(samples[i].name, kCounterInfos[i].name);
    EXPECT_EQ(samples[i].unit, kCounterInfos[i].unit);
    EXPECT_EQ(samples[i].help, kCounterInfos[i].help);
    EXPECT_EQ(samples[i].kind, kCounterInfos[i].kind);
    EXPECT_EQ(samples[i].value, 1000 + i) << samples[i].name;
  }
}

TEST_F(CountersFile, IdentityAndHeartbeat) {
  Counters counters = make("gpu-0");
  const CountersReader reader = CountersReader::open(path_).value();
  EXPECT_EQ(reader.identity().instance, "gpu-0");
  EXPECT_EQ(reader.identity().program_version, KVTIER_VERSION);
  EXPECT_EQ(reader.identity().pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(reader.identity().start_realtime_ns, 1'700'000'000'000'000'000U);
  EXPECT_EQ(reader.heartbeat_ns(), clock_.now_ns());
  counters.heartbeat(clock_.now_ns() + 5);
  EXPECT_EQ(reader.heartbeat_ns(), clock_.now_ns() + 5);
}

// The file outlives a daemon that is killed: the last values are what one wants to see then.
TEST_F(CountersFile, ReadableAfterTheDaemonWasKilled) {
  const pid_t child = fork();
  if (child == 0) {
    Counters counters = make();
    counters.add(Counter::kCommits, 42);
    raise(SIGKILL);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_EQ(value_of("commits"), 42U);
  EXPECT_EQ(CountersReader::open(path_).value().identity().pid, static_cast<std::uint32_t>(child));
}

TEST_F(CountersFile, NextDaemonReplacesTheFileAndAnOpenReaderKeepsTheOld) {
  Counters first = make("first");
  first.add(Counter::kCommits);
  const CountersReader reader = CountersReader::open(path_).value();
  Counters second = make("second");
  EXPECT_EQ(reader.identity().instance, "first");
  EXPECT_EQ(CountersReader::open(path_).value().identity().instance, "second");
}

TEST_F(CountersFile, EndRemovesItsOwnFileOnly) {
  { const Counters first = make("first"); }
  EXPECT_EQ(CountersReader::open(path_).code(), Code::kNotFound);
  std::optional<Counters> second;
  {
    const Counters first = make("first");
    second.emplace(make("second"));
  }
  EXPECT_EQ(CountersReader::open(path_).value().identity().instance, "second");
}

TEST_F(CountersFile, S14ModeIsNarrowWhateverTheUmask) {
  const mode_t before = umask(0);
  const Counters counters = make();
  umask(before);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640U);
}

TEST_F(CountersFile, LinksAreNotFollowed) {
  const std::string victim = folder_.file("victim");
  std::ofstream(victim) << "precious";
  ASSERT_EQ(symlink(victim.c_str(), (path_ + ".new").c_str()), 0);
  const Counters counters = make();
  std::string text;
  std::ifstream(victim) >> text;
  EXPECT_EQ(text, "precious");
}

TEST_F(CountersFile, FolderThatIsNotThereIsNamed) {
  const Result<Counters> counters = Counters::create({folder_.file("no/c"), "x", 0, 8}, clock_);
  EXPECT_EQ(counters.code(), Code::kNotFound);
  EXPECT_NE(counters.status().message().find("no/c.new"), std::string::npos);
}

TEST(Counters, WithoutAFileForSimulation) {
  const ManualClock clock;
  Counters counters = Counters::create({}, clock).value();
  counters.add(Counter::kCommits);
  counters.add(Counter::kCommits, 2);
  EXPECT_EQ(counters.get(Counter::kCommits), 3U);
}

TEST(Counters, SharedAdditionLosesNothing) {
  const ManualClock clock;
  Counters counters = Counters::create({}, clock).value();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) counters.add_shared(Counter::kLogLines);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counters.get(Counter::kLogLines), 4000U);
}

}  // namespace
}  // namespace kvtier
