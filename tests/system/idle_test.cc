// What a daemon without work costs. `kvbench idle` measures the same for longer.

#include <gtest/gtest.h>

#include "tests/system/daemon_fixture.h"
#include "tests/system/wire_client.h"
#include "tools/kvbench/support/process_stats.h"

namespace kvtier::test {
namespace {

using IdleDaemon = RunningDaemonTest;

// The bar: at most 20 wake-ups a second over all threads, and below 1 % of a core. Time passes by the daemon's clock.
TEST_F(IdleDaemon, sleeps) {
  constexpr double kWakeupsPerSecondMax = 20;
  constexpr double kCpuShareMax = 0.01;
  const Result<std::unique_ptr<WireClient>> client = WireClient::open(place_.socket(), "default");
  ASSERT_TRUE(client.is_ok()) << client.status().to_string();
  const std::uint64_t up_s = counters_of(place_)["uptime_seconds"];
  ASSERT_TRUE(counter_reaches("uptime_seconds", up_s + 1)) << "what the attaching set off";
  const bench::ProcessActivity before = bench::process_activity(daemon_->pid());
  const TimeNs begin_ns = SystemClock().now_ns();
  ASSERT_TRUE(counter_reaches("uptime_seconds", up_s + 4));
  const bench::ProcessActivity after = bench::process_activity(daemon_->pid());
  const auto elapsed_ns = static_cast<double>(SystemClock().now_ns() - begin_ns);
  EXPECT_LE(static_cast<double>(after.wakeups - before.wakeups) * kNsPerSecond / elapsed_ns,
            kWakeupsPerSecondMax);
  EXPECT_LE(static_cast<double>(after.cpu_ns - before.cpu_ns) / elapsed_ns, kCpuShareMax);
}

}  // namespace
}  // namespace kvtier::test
