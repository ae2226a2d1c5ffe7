// kvctl dump and verify over the files of a real daemon, damaged between its lives.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

using Json = nlohmann::json;

constexpr int kFaults = 1;
constexpr int kRefused = 3;

class NvmeTools : public DaemonTest {
 protected:
  void configure() {
    std::filesystem::create_directories(folder());
    place_.write_config("nvme:\n  segment_bytes: 8MiB\n  write_policy: through\n  paths:\n    - {dir: " +
                        folder() + ", bytes: 129MiB}\n");
  }
  [[nodiscard]] std::string folder() const { return place_.file("nvme"); }
  bool start_small() { return start({"host.bytes=16MiB", "host.slab_bytes=4MiB"}); }
  void end() {
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait(), 0) << place_.output();
  }
  // Exit status and answer of kvctl --json.
  std::pair<int, Json> ask(std::vector<std::string> words) {
    words.insert(words.begin(), "--json");
    const int status = kvctl(words);
    return {status, Json::parse(said(), nullptr, false)};
  }
  // A byte in the middle of a payload, on disk.
  void flip(const Json& dump, const Json& record) {
    const Json& path = dump["paths"][0];
    const std::uint64_t at =
        (1 << 20) + record["segment"].get<std::uint64_t>() * path["segment_bytes"].get<std::uint64_t>() +
        record["payload_offset"].get<std::uint64_t>() + 12345;
    std::fstream file(folder() + "/kvtier.data", std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x20));
    ASSERT_TRUE(file.good());
  }
};

// Ten of the blocks on disk lose a bit. Both tools find these ten, and for clients they are misses, never other bytes.
TEST_F(NvmeTools, verify_finds_what_was_flipped_and_it_becomes_a_miss_R06) {
  configure();
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    for (std::uint64_t chain = 0; chain < 10; ++chain)
      ASSERT_TRUE(eventually([&] { return client.store(chain, 0, 60) == 60; })) << client.error();
    EXPECT_TRUE(counter_reaches("nvme_puts", 600));
  }
  EXPECT_EQ(kvctl({"verify"}), 0) << said();
  EXPECT_NE(said().find("none bad"), std::string::npos) << said();
  EXPECT_EQ(kvctl({"dump", folder()}), kRefused) << said();
  EXPECT_NE(said().find("in use by a daemon"), std::string::npos) << said();
  EXPECT_NE(kvctl({"dump", folder(), "--live"}), kRefused) << said();
  EXPECT_NE(said().find("the picture moves"), std::string::npos) << said();
  end();

  const auto [before, dump] = ask({"dump", folder(), "--records", "--check"});
  ASSERT_EQ(before, 0) << said();
  ASSERT_EQ(dump["paths"][0]["epoch"], dump["paths"][0]["closed_epoch"]);
  ASSERT_EQ(dump["spaces"][0]["namespace"], "default");
  ASSERT_EQ(dump["spaces"][0]["model"], "m");
  std::set<std::string> flipped;
  for (std::size_t i = 7; flipped.size() < 10 && i < dump["records"].size(); i += 37) {
    const Json& record = dump["records"][i];
    if (!record["live"].get<bool>() || record["kind"] != "block") continue;
    flip(dump, record);
    flipped.insert(record["key"]);
  }
  ASSERT_EQ(flipped.size(), 10U);
  const auto [offline, damaged] = ask({"dump", folder(), "--check"});
  EXPECT_EQ(offline, kFaults);
  EXPECT_EQ(damaged["faults"], Json({{"payload_damaged", 10}}));

  ASSERT_TRUE(start_small()) << place_.output();
  const auto [status, report] = ask({"verify"});
  EXPECT_EQ(status, kFaults) << said();
  EXPECT_EQ(report["state"], "done");
  EXPECT_EQ(report["blocks_bad"], 10);
  EXPECT_EQ(report["faults"], Json({{"payload_damaged", 10}}));
  EXPECT_GE(report["blocks_good"], 590);
  EXPECT_TRUE(counter_reaches("disk_lost", 10));
  for (const std::string& key : flipped) EXPECT_EQ(kvctl({"inspect", key}), kRefused) << said();
  CacheClient client({.socket = place_.socket()});
  std::size_t read = 0;
  for (std::uint64_t chain = 0; chain < 10; ++chain) {
    const CacheClient::Read one = client.read(chain, 60);
    EXPECT_EQ(one.wrong_blocks, 0U);
    read += one.blocks;
  }
  EXPECT_LT(read, 600U) << "a prefix ends where its block is missing";
}

// Interrupted in the middle: its file had no name, and is gone.
TEST_F(NvmeTools, an_interrupted_probe_leaves_nothing_behind) {
  std::filesystem::create_directories(folder());
  ChildProcess probe({.command = {program("kvctl"), "probe", "--path", folder(), "--seconds", "600"},
                      .environment = {},
                      .output_path = place_.file("probed")});
  const auto has_file = [&] {
    std::error_code error;
    const std::string fds = "/proc/" + std::to_string(probe.pid()) + "/fd";
    for (const auto& each : std::filesystem::directory_iterator(fds, error)) {
      const std::string target = std::filesystem::read_symlink(each.path(), error).string();
      if (target.starts_with(folder() + "/")) return true;
    }
    return false;
  };
  ASSERT_TRUE(eventually(has_file)) << read_file(place_.file("probed"));
  probe.signal(SIGINT);
  EXPECT_EQ(probe.wait(), 128 + SIGINT);
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(NvmeTools, without_a_tier_there_is_nothing_to_verify) {
  ASSERT_TRUE(start()) << place_.output();
  const auto [status, answer] = ask({"verify"});
  EXPECT_EQ(status, kRefused);
  EXPECT_NE(said().find("there is no NVMe tier"), std::string::npos) << said();
}

}  // namespace
}  // namespace kvtier::test
