#pragma once
// A daemon with an NVMe tier in folders of the test, small memory, and an engine that fills both.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {

class NvmeTest : public DaemonTest {
 protected:
  static constexpr std::uint64_t kChains = 12;
  static constexpr std::size_t kChainBlocks = 64;  ///< 4 MiB; memory holds four chains

  std::string folder(const std::string& name) {
    std::filesystem::create_directories(place_.file(name));
    return place_.file(name);
  }
  void configure(const std::vector<std::string>& dirs, const std::string& more = "",
                 const std::string& bytes = "129MiB") {
    std::string text = "nvme:\n  segment_bytes: 8MiB\n  headroom: 1MiB\n  write_policy: " + write_policy_ +
                       "\n" + more + "  paths:\n";
    for (const std::string& dir : dirs)
      text.append("    - {dir: ").append(dir).append(", bytes: ").append(bytes).append("}\n");
    place_.write_config(text);
  }
  /// With little memory. `options`: of the child, beside command and output.
  [[nodiscard]] bool start_small(ChildProcess::Options options = {}) {
    place_.notify().drain();
    options.command = place_.command({"host.bytes=16MiB", "host.slab_bytes=4MiB"});
    options.environment.push_back("NOTIFY_SOCKET=" + place_.file("notify"));
    options.output_path = place_.file("output");
    daemon_ = std::make_unique<ChildProcess>(options);
    return place_.notify().wait_for("READY=1", kPatienceNs);
  }
  /// Faster than a disk takes them a store may find no room for a moment.
  static void store(CacheClient& client, std::uint64_t chain) {
    ASSERT_TRUE(eventually([&] { return client.store(chain, 0, kChainBlocks) == kChainBlocks; }))
        << client.error();
  }
  /// The same with chains that nobody stored before, and all of them are on disk then. No more at a time than memory holds:
  /// on a machine that is busy with other things blocks leave it that the disk did not take in time.
  void save(CacheClient& client, std::uint64_t first_chain, std::uint64_t chains) {
    const std::uint64_t before = counter("demotions");
    for (std::uint64_t done = 0; done < chains;) {
      for (std::uint64_t i = 0; i < 3 && done < chains; ++i, ++done) store(client, first_chain + done);
      ASSERT_TRUE(counter_reaches("demotions", before + done * kChainBlocks)) << place_.output();
    }
  }
  void save_all(CacheClient& client) { save(client, 0, kChains); }
  /// Blocks of all chains that are, or come back, and have their bytes; one that has others fails the test.
  static std::size_t read_all(CacheClient& client) {
    std::size_t blocks = 0;
    for (std::uint64_t chain = 0; chain < kChains; ++chain) {
      // What was written a moment ago, and is not on disk yet, leaves no room.
      EXPECT_TRUE(eventually([&] { return client.restore(chain, kChainBlocks).code != KVC_NO_SPACE; }));
      const CacheClient::Read read = client.read_any(chain, kChainBlocks);
      EXPECT_EQ(read.wrong_blocks, 0U);
      blocks += read.blocks;
    }
    return blocks;
  }
  bool status_has(const std::string& part) {
    (void)kvctl({"status"});
    return said().find(part) != std::string::npos;
  }
  bool status_comes_to(const std::string& part) {
    return eventually([&] { return status_has(part); });
  }
  bool output_comes_to(const std::string& part) {
    return eventually([&] { return place_.output().find(part) != std::string::npos; });
  }
  std::uint64_t counter(const std::string& name) const { return counters_of(place_)[name]; }
  void end() {
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait(), 0) << place_.output();
  }

  std::string write_policy_ =
      "through";  ///< for configure(); what "back" saves, and when, is a matter of speed
};

}  // namespace kvtier::test
