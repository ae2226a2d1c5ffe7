// The daemon with an NVMe tier in real folders.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"

namespace kvtier::test {
namespace {

class Nvme : public DaemonTest {
 protected:
  std::string folder(const std::string& name) {
    std::filesystem::create_directories(place_.file(name));
    return place_.file(name);
  }
  void configure(const std::vector<std::string>& dirs, const std::string& more = "") {
    std::string text = "nvme:\n  segment_bytes: 8MiB\n" + more + "  paths:\n";
    for (const std::string& dir : dirs) text += "    - {dir: " + dir + ", bytes: 129MiB}\n";
    place_.write_config(text);
  }
  bool status_has(const std::string& part) {
    (void)kvctl({"status"});
    return said().find(part) != std::string::npos;
  }
  // Faster than a disk takes them a store may find no room for a moment.
  static void store(CacheClient& client) {
    for (std::uint64_t chain = 0; chain < 16; ++chain)
      ASSERT_TRUE(eventually([&] { return client.store(chain, 0, 64) == 64; })) << client.error();
  }
  void end() {
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait(), 0) << place_.output();
  }
};

// Four times as much as memory holds: what leaves it is on disk, and is there after a clean end.
TEST_F(Nvme, blocks_leave_memory_for_disk_and_are_found_after_a_restart) {
  configure({folder("a"), folder("b")});
  const std::vector<std::string> small = {"host.bytes=16MiB", "host.slab_bytes=4MiB"};
  ASSERT_TRUE(start(small)) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    store(client);
    EXPECT_TRUE(counter_reaches("demotions", 500)) << place_.output();
    EXPECT_EQ(kvctl({"status"}), 0) << said();
    EXPECT_TRUE(status_has("tier nvme    serving; ")) << said();
    EXPECT_TRUE(status_has(place_.file("b") + " ok")) << said();
  }
  end();
  ASSERT_TRUE(start(small)) << place_.output();  // READY comes after the recovery
  EXPECT_TRUE(counter_reaches("nvme_recovered_blocks", 500)) << said();
  EXPECT_TRUE(counter_becomes("nvme_recovered_scans", 0));  // the end was clean
  EXPECT_TRUE(counter_becomes("nvme_recovered_unknown", 0));
  EXPECT_TRUE(counter_reaches("disk_recovered", 500));
  end();
}

// A third more than the tier holds, then nobody: it wrote at full speed for as long as the daemon lived. Time passes by the
// daemon's clock.
TEST_F(Nvme, a_full_tier_rests_when_its_clients_do) {
  place_.write_config("nvme:\n  segment_bytes: 4MiB\n  paths:\n    - {dir: " + folder("a") +
                      ", bytes: 200MiB}\n");
  ASSERT_TRUE(start({"host.bytes=64MiB", "host.slab_bytes=4MiB"})) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    for (std::uint64_t chain = 0; chain < 68; ++chain)
      ASSERT_TRUE(eventually([&] { return client.store(chain, 0, 64) == 64; })) << client.error();
  }
  ASSERT_TRUE(counter_reaches("nvme_blocks_dropped", 1));
  const auto rest = [&](std::uint64_t seconds) {
    const std::uint64_t up_s = counters_of(place_)["uptime_seconds"];
    EXPECT_TRUE(counter_reaches("uptime_seconds", up_s + seconds));
  };
  rest(3);
  const auto before = counters_of(place_);
  rest(3);
  const auto after = counters_of(place_);
  for (const char* name : {"nvme_puts", "nvme_writes", "nvme_written_payloads", "nvme_written_moves"})
    EXPECT_EQ(after.at(name), before.at(name)) << name;
}

TEST_F(Nvme, after_a_kill_what_was_flushed_is_found) {
  configure({folder("a")});
  const std::vector<std::string> small = {"host.bytes=16MiB", "host.slab_bytes=4MiB"};
  ASSERT_TRUE(start(small)) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    store(client);
    EXPECT_TRUE(counter_reaches("nvme_puts", 500));
    EXPECT_TRUE(counter_reaches("nvme_flushes", 1));
  }
  daemon_->signal(SIGKILL);
  daemon_->wait();
  ASSERT_TRUE(start(small)) << place_.output();
  EXPECT_TRUE(counter_reaches("nvme_recovered_blocks", 500)) << said();
  EXPECT_TRUE(counter_reaches("nvme_recovered_scans", 1));
}

TEST_F(Nvme, a_path_that_is_missing_is_said_and_the_other_serves) {
  configure({place_.file("missing"), folder("a")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find(place_.file("missing") + " is left out: "), std::string::npos) << said();
  EXPECT_NE(said().find(place_.file("a") + " ok"), std::string::npos) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

TEST_F(Nvme, without_any_path_the_daemon_serves_from_memory) {
  configure({place_.file("missing")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("tier nvme    refused"), std::string::npos) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

// The file of another store: it is left alone, and says why.
TEST_F(Nvme, a_store_that_lies_elsewhere_is_refused_and_untouched) {
  configure({folder("a")});
  ASSERT_TRUE(start()) << place_.output();
  end();
  std::filesystem::copy(place_.file("a"), place_.file("copy"), std::filesystem::copy_options::recursive);
  configure({place_.file("copy")});
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("it may be a copy"), std::string::npos) << said();
  end();
  configure({place_.file("copy")}, "  home: moved\n");
  ASSERT_TRUE(start()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
}

}  // namespace
}  // namespace kvtier::test
