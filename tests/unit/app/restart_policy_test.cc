#include "daemon/app/restart_policy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

namespace kvtier {
namespace {

using Policy = RestartPolicy;

EndedRun failed_start(int code = 1) {
  return {.wait_status = W_EXITCODE(code, 0), .lasted_ns = kNsPerMs};
}
EndedRun killed(TimeNs lasted_ns, bool has_served) {
  return {.wait_status = W_EXITCODE(0, SIGKILL), .lasted_ns = lasted_ns, .has_served = has_served};
}

TEST(RestartPolicy, what_no_restart_mends_ends_at_once_with_its_code) {
  for (const int code : {0, 2, 3, 4}) {
    Policy policy;
    EXPECT_EQ(policy.after(failed_start(code)), std::nullopt);
    EXPECT_EQ(policy.exit_code(), code);
    EXPECT_FALSE(policy.has_given_up());
  }
}

TEST(RestartPolicy, starts_that_fail_in_a_row_are_given_up_with_the_last_code) {
  Policy policy;
  for (int start = 1; start < Policy::kFailedStartsMax; ++start)
    EXPECT_TRUE(policy.after(failed_start(1)).has_value()) << start;
  EXPECT_EQ(policy.after(failed_start(70)), std::nullopt);
  EXPECT_TRUE(policy.has_given_up());
  EXPECT_EQ(policy.exit_code(), 70);
}

TEST(RestartPolicy, a_signal_at_the_start_counts_and_is_128_and_its_number) {
  Policy policy;
  for (int start = 1; start < Policy::kFailedStartsMax; ++start)
    EXPECT_TRUE(policy.after(killed(0, false)).has_value());
  EXPECT_EQ(policy.after(killed(0, false)), std::nullopt);
  EXPECT_EQ(policy.exit_code(), 128 + SIGKILL);
}

TEST(RestartPolicy, a_run_that_served_or_lasted_sets_the_count_back) {
  for (const EndedRun& good : {killed(0, true), killed(Policy::kHealthyNs, false)}) {
    Policy policy;
    for (int round = 0; round < 3; ++round) {
      for (int start = 1; start < Policy::kFailedStartsMax; ++start)
        EXPECT_TRUE(policy.after(failed_start()).has_value());
      EXPECT_TRUE(policy.after(good).has_value());
    }
  }
}

TEST(RestartPolicy, the_pause_doubles_to_its_maximum_until_a_run_lasted) {
  Policy policy;
  for (TimeNs wanted = Policy::kPauseMinNs; wanted < Policy::kPauseMaxNs; wanted *= 2)
    EXPECT_EQ(policy.after(killed(Policy::kHealthyServedNs - 1, true)), wanted);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.after(killed(0, true)), Policy::kPauseMaxNs);
  EXPECT_EQ(policy.after(killed(Policy::kHealthyNs, false)), Policy::kPauseMinNs);
}

// Killed every three seconds, by whomever: it is there again at once each time.
TEST(RestartPolicy, a_daemon_that_served_for_seconds_is_started_again_at_once) {
  Policy policy;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(policy.after(killed(Policy::kHealthyServedNs, true)), Policy::kPauseMinNs);
  EXPECT_EQ(policy.after(killed(Policy::kHealthyServedNs, false)), 2 * Policy::kPauseMinNs);
}

}  // namespace
}  // namespace kvtier
