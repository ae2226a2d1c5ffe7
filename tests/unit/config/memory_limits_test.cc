#include "daemon/config/memory_limits.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kGi = 1ULL << 30;

class MemoryLimitsTest : public ::testing::Test {
 protected:
  MemoryLimitsTest() {
    write("proc/meminfo",
          "MemTotal: 8388608 kB\nMemFree: 1 kB\nMemAvailable: 6291456 kB\nHugePages_Free: 3\nHugepagesize: "
          "2048 kB\n");
  }
  ~MemoryLimitsTest() override { std::filesystem::remove_all(root_); }
  MemoryLimitsTest(const MemoryLimitsTest&) = delete;
  MemoryLimitsTest& operator=(const MemoryLimitsTest&) = delete;

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] MemoryLimits read() const { return read_memory_limits(root_).value(); }

  const std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("kvtier-root-" + std::to_string(getpid()));
};

TEST_F(MemoryLimitsTest, HostAlone) {
  const MemoryLimits limits = read();
  EXPECT_EQ(limits.total_bytes, 8 * kGi);
  EXPECT_EQ(limits.available_bytes, 6 * kGi);
  EXPECT_EQ(limits.huge_pages_free_bytes, 6U << 20);
  EXPECT_FALSE(limits.is_cgroup);
}

TEST_F(MemoryLimitsTest, OwnCgroupBinds) {
  write("proc/self/cgroup", "0::/system.slice/kvtierd.service\n");
  write("sys/fs/cgroup/system.slice/kvtierd.service/memory.max", "4294967296\n");
  write("sys/fs/cgroup/system.slice/kvtierd.service/memory.current", "2147483648\n");
  write("sys/fs/cgroup/system.slice/kvtierd.service/memory.stat", "anon 1\ninactive_file 1073741824\n");
  const MemoryLimits limits = read();
  EXPECT_EQ(limits.available_bytes, 3 * kGi);
  EXPECT_EQ(limits.total_bytes, 4 * kGi);
  EXPECT_TRUE(limits.is_cgroup);
  EXPECT_TRUE(has(limits.bound_by, "cgroup /system.slice/kvtierd.service: memory.max 4 GiB, used 1 GiB"));
}

TEST_F(MemoryLimitsTest, ParentCgroupBindsToo) {
  write("proc/self/cgroup", "12:memory:/old\n0::/a/b\n");
  write("sys/fs/cgroup/a/b/memory.max", "max\n");
  write("sys/fs/cgroup/a/memory.max", "1073741824\n");
  EXPECT_EQ(read().available_bytes, kGi);
  EXPECT_TRUE(has(read().bound_by, "cgroup /a:"));
}

TEST_F(MemoryLimitsTest, RootOfAContainerBinds) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "2147483648\n");
  EXPECT_EQ(read().available_bytes, 2 * kGi);
}

TEST_F(MemoryLimitsTest, UseAboveTheLimitLeavesNothing) {
  write("sys/fs/cgroup/memory.max", "100\n");
  write("sys/fs/cgroup/memory.current", "200\n");
  EXPECT_EQ(read().available_bytes, 0U);
}

TEST_F(MemoryLimitsTest, LargerLimitSetsNoBound) {
  write("sys/fs/cgroup/memory.max", "99999999999999\n");
  EXPECT_FALSE(read().is_cgroup);
}

TEST_F(MemoryLimitsTest, MissingMeminfoIsSaid) {
  const Result<MemoryLimits> limits = read_memory_limits("/nonexistent");
  EXPECT_EQ(limits.code(), Code::kSystem);
}

TEST(MemoryLimits, ThisHost) {
  const Result<MemoryLimits> limits = read_memory_limits();
  ASSERT_TRUE(limits.is_ok());
  EXPECT_GT(limits.value().available_bytes, 0U);
  EXPECT_LE(limits.value().available_bytes, limits.value().total_bytes);
}

}  // namespace
}  // namespace kvtier
