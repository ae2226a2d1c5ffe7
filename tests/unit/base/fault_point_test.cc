#include "libkvclient/base/fault_point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

#include "libkvclient/base/clock.h"

namespace kvtier {
namespace {

class FaultPoint : public ::testing::Test {
 protected:
  ~FaultPoint() override { static_cast<void>(fault_arm("", 1)); }

  static std::string passes(const char* name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      const Fault fault = KV_FAULT(name);
      text += fault == Fault::kFail ? 'F' : fault == Fault::kShorten ? 'S' : '.';
    }
    return text;
  }
};

TEST_F(FaultPoint, UnarmedPointsDoNothing) {
  ASSERT_TRUE(fault_arm("", 1));
  EXPECT_EQ(passes("a", 3), "...");
}

TEST_F(FaultPoint, EveryPassOrTheNth) {
  ASSERT_TRUE(fault_arm("a=fail;b=shorten@3;c=fail@1", 1));
  EXPECT_EQ(passes("a", 3), "FFF");
  EXPECT_EQ(passes("b", 5), "..S..");
  EXPECT_EQ(passes("c", 3), "F..");
  EXPECT_EQ(passes("ab", 2), "..");
}

TEST_F(FaultPoint, SeveralArmedAtOnePoint) {
  ASSERT_TRUE(fault_arm("a=fail@2;a=shorten@3;a=delay:1ns", 1));
  EXPECT_EQ(passes("a", 4), ".FS.");
}

TEST_F(FaultPoint, ProbabilityReplaysFromItsSeed) {
  ASSERT_TRUE(fault_arm("a=fail~0.5", 42));
  const std::string first = passes("a", 200);
  ASSERT_TRUE(fault_arm("a=fail~0.5", 42));
  EXPECT_EQ(passes("a", 200), first);
  ASSERT_TRUE(fault_arm("a=fail~0.5", 43));
  EXPECT_NE(passes("a", 200), first);
  const auto hits = std::count(first.begin(), first.end(), 'F');
  EXPECT_GT(hits, 60);
  EXPECT_LT(hits, 140);
}

TEST_F(FaultPoint, DelayTakesItsTime) {
  ASSERT_TRUE(fault_arm("a=delay:2ms@1", 1));
  const SystemClock clock;
  const TimeNs begin_ns = clock.now_ns();
  EXPECT_EQ(passes("a", 1), ".");
  EXPECT_GE(clock.now_ns() - begin_ns, 2 * kNsPerMs);
}

TEST_F(FaultPoint, NearlyRightTextsAreRefused) {
  for (const char* text : {"a", "a=", "=fail", "a=explode", "a=fail@", "a=fail@x", "a=fail@0", "a=fail@3x",
                           "a=fail~", "a=fail~2", "a=fail~0", "a=fail~x", "a=delay", "a=delay:", "a=delay:5",
                           "a=fail:2ms", "b=fail;a=fail@"})
    EXPECT_FALSE(fault_arm(text, 1)) << text;
  EXPECT_TRUE(fault_arm(";a=fail;;", 1));
}

using FaultPointDeathTest = FaultPoint;

TEST_F(FaultPointDeathTest, CrashIsSigkillAtItsPass) {
  ASSERT_TRUE(fault_arm("a=crash@2", 1));
  EXPECT_EQ(passes("a", 1), ".");
  EXPECT_EXIT(passes("a", 1), ::testing::KilledBySignal(SIGKILL), "");
}

TEST_F(FaultPointDeathTest, EnvironmentArmsAFreshProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("KVTIER_FAULTS", "env.point=crash", 1);
  EXPECT_EXIT(passes("env.point", 1), ::testing::KilledBySignal(SIGKILL), "");
  setenv("KVTIER_FAULTS", "env.point=crahs", 1);
  EXPECT_DEATH(passes("env.point", 1), "cannot be parsed");
  unsetenv("KVTIER_FAULTS");
}

}  // namespace
}  // namespace kvtier
