// Field reports of recovery and of disks, with the whole daemon.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "daemon/disk/format.h"
#include "libkvclient/base/unique_fd.h"
#include "tests/support/pattern_block.h"
#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

class NvmeReports : public NvmeTest {
 protected:
  void SetUp() override { configure({folder("a")}); }
  void kill_and_start() {
    daemon_->signal(SIGKILL);
    daemon_->wait();
    ASSERT_TRUE(start_small()) << place_.output();
  }
  [[nodiscard]] std::string data_file() const { return place_.file("a") + "/kvtier.data"; }
  /// Of the path "a", while the daemon runs: the last unit of each segment.
  void damage_footers(std::uint64_t segments, std::uint64_t segment_bytes) const {
    const UniqueFd file(::open(data_file().c_str(), O_WRONLY | O_CLOEXEC));
    const std::vector<std::byte> zeros(kAlignmentMin);
    for (std::uint64_t i = 1; i <= segments; ++i) {
      const std::uint64_t at = kSegmentsOffset + i * segment_bytes - zeros.size();
      ASSERT_EQ(::pwrite(file.get(), zeros.data(), zeros.size(), static_cast<off_t>(at)),
                static_cast<ssize_t>(zeros.size()));
    }
    ASSERT_EQ(::fdatasync(file.get()), 0);
  }
  std::uint64_t segments_free(const std::string& path) {
    (void)kvctl({"--json", "status"});
    const nlohmann::json status = nlohmann::json::parse(said());
    for (const nlohmann::json& tier : status.at("tiers")) {
      if (tier.at("name") != "nvme") continue;
      for (const nlohmann::json& each : tier.at("paths"))
        if (each.at("dir") == path) return each.at("segments_free").get<std::uint64_t>();
    }
    return 0;
  }
  static std::size_t read_some(CacheClient& client, std::uint64_t chains) {
    std::size_t blocks = 0;
    for (std::uint64_t chain = 0; chain < chains; ++chain) {
      (void)client.restore(chain, kChainBlocks);
      const CacheClient::Read read = client.read_any(chain, kChainBlocks);
      EXPECT_EQ(read.wrong_blocks, 0U);
      blocks += read.blocks;
    }
    return blocks;
  }
  static std::size_t on_disk(CacheClient& client, std::uint64_t chains) {
    std::size_t blocks = 0;
    for (std::uint64_t chain = 0; chain < chains; ++chain)
      blocks += client.count_state(chain, kChainBlocks, KVC_STATE_ON_DISK);
    return blocks;
  }
};

// Usage is known before the first request, earlier keys hit, and writing on stays within the bound.
TEST_F(NvmeReports, R04_after_a_kill_what_is_on_disk_counts_and_is_found) {
  constexpr std::uint64_t kBound = 129 << 20;
  ASSERT_TRUE(start_small()) << place_.output();
  std::size_t before = 0;
  {
    CacheClient client({.socket = place_.socket()});
    ASSERT_NO_FATAL_FAILURE(save(client, 0, 24));  // 96 MiB
    before = on_disk(client, 24);
  }
  kill_and_start();
  EXPECT_TRUE(counter_reaches("nvme_used_bytes", before * kBlockBytes)) << counter("nvme_used_bytes");
  CacheClient client({.socket = place_.socket()});
  EXPECT_GE(on_disk(client, 24), before);
  EXPECT_GT(read_all(client), 0U);
  for (std::uint64_t chain = 100; chain < 163; chain += 3) {  // twice the bound
    ASSERT_NO_FATAL_FAILURE(save(client, chain, 3));
    struct stat facts {};
    ASSERT_EQ(::stat(data_file().c_str(), &facts), 0);
    ASSERT_LE(static_cast<std::uint64_t>(facts.st_size), kBound);
    ASSERT_LE(static_cast<std::uint64_t>(facts.st_blocks) * 512, kBound + (64 << 10)) << "its map included";
  }
  EXPECT_TRUE(counter_reaches("nvme_segments_reclaimed", 1));
  EXPECT_EQ(client.read_any(162, kChainBlocks).wrong_blocks, 0U);
  end();
}

// Ten blocks of a hundred have a byte changed on disk: ten are misses, counted as what they are, and gone; the others exact.
TEST_F(NvmeReports, R06_ten_bytes_of_a_hundred_blocks_are_ten_misses) {
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    for (std::uint64_t chain = 0; chain < 2; ++chain) ASSERT_EQ(client.store(chain, 0, 50), 50U);
    for (std::uint64_t chain = 10; chain < 18; ++chain) store(client, chain);  // drives them out
    ASSERT_TRUE(eventually([&] {
      return client.count_state(0, 50, KVC_STATE_ON_DISK) + client.count_state(1, 50, KVC_STATE_ON_DISK) ==
             100;
    })) << place_.output();
  }
  end();
  std::vector<std::byte> bytes(129 << 20);
  std::fstream file(data_file(), std::ios::in | std::ios::out | std::ios::binary);
  ASSERT_TRUE(file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())));
  for (std::size_t i = 0; i < 10; ++i) {
    std::vector<std::byte> block(kBlockBytes);
    fill_pattern(pattern_key(i % 2, 5 * i), block);
    const auto found = std::search(bytes.begin() + kSegmentsOffset, bytes.end(),
                                   std::boyer_moore_horspool_searcher(block.begin(), block.begin() + 64));
    ASSERT_NE(found, bytes.end());
    const auto at = (found - bytes.begin()) + static_cast<std::ptrdiff_t>(1000 * i + 77);
    const char changed = static_cast<char>(bytes[static_cast<std::size_t>(at)] ^ std::byte{4});
    file.seekp(at).write(&changed, 1);
  }
  file.close();
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  std::size_t right = 0;
  for (std::uint64_t chain = 0; chain < 2; ++chain) {
    (void)client.restore(chain, 50);
    const CacheClient::Read read = client.read_any(chain, 50);
    right += read.blocks;
    EXPECT_EQ(read.wrong_blocks, 0U);
  }
  EXPECT_EQ(right, 90U);
  EXPECT_EQ(client.count_state(0, 50, KVC_MISSING) + client.count_state(1, 50, KVC_MISSING), 10U) << "gone";
  EXPECT_TRUE(counter_becomes("nvme_fault_payload_damaged", 10));
  EXPECT_EQ(client.store(0, 0, 50), 50U) << "a damaged key can be stored again";
  EXPECT_EQ(client.read(0, 50).blocks, 50U);
  end();
}

// No segment of one path has an index that can be read, so none can be reclaimed: the path is full, which is said with what
// to do. It is read on, the other path and memory take what is new, and it takes blocks again when what it has is dead.
TEST_F(NvmeReports, D11_a_full_path_is_said_and_takes_blocks_again_when_there_is_room) {
  const std::string full = folder("a");
  configure({full, folder("b")}, "", "41MiB");  // five segments
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  std::uint64_t chains = 0;
  ASSERT_TRUE(eventually([&] {
    store(client, chains++);
    damage_footers(5, 8 << 20);
    return status_has(full + " full (it takes nothing new: ");
  })) << said();
  EXPECT_EQ(kvctl({"status"}), 1) << "degraded";
  EXPECT_TRUE(status_has("restart of kvtierd")) << said();
  EXPECT_TRUE(status_has(place_.file("b") + " ok")) << said();
  EXPECT_TRUE(counter_becomes("nvme_paths_ok", 1));
  ASSERT_NO_FATAL_FAILURE(save(client, 1000, 2));
  EXPECT_TRUE(client.works(2000)) << client.error();
  EXPECT_TRUE(eventually([&] { return read_some(client, chains) > 0; }));
  EXPECT_EQ(counter("nvme_gets_unavailable"), 0U) << "it is read";
  ASSERT_EQ(kvctl({"flush", "--all", "--disk"}), 0) << said();
  EXPECT_TRUE(eventually([&] { return segments_free(full) >= 2; })) << said();
  EXPECT_TRUE(status_comes_to(full + " ok")) << said();
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  EXPECT_TRUE(counter_becomes("nvme_paths_ok", 2));
  ASSERT_NO_FATAL_FAILURE(save(client, 3000, 6));
  end();
}

// A client that matches in a loop over a restart: its calls end, it comes back by itself, and finds what is on disk.
TEST_F(NvmeReports, R11_a_client_that_stays_hits_from_disk_after_a_restart) {
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(save_all(client));
  const std::size_t before = on_disk(client, kChains);
  daemon_->signal(SIGKILL);
  daemon_->wait();
  EXPECT_EQ(client.restore(0, kChainBlocks).ready, 0U) << "answered, as a miss";
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(eventually([&] { return client.ping(kNsPerSecond); })) << "by itself";
  EXPECT_TRUE(eventually([&] { return on_disk(client, kChains) >= before; }));
  EXPECT_GT(read_all(client), 0U);
  EXPECT_TRUE(client.works(500)) << client.error();
  end();
}

// Ten thousand blocks loaded and read by sixteen clients at once, of three times what memory holds: each load ends, all
// bytes are right, and nothing stays in flight.
TEST_F(NvmeReports, D03_sixteen_clients_ask_for_ten_thousand_loads) {
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient writer({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(save_all(writer));
  std::atomic<std::uint64_t> blocks_read = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      CacheClient client({.socket = place_.socket()});
      std::uint64_t round = 0;
      std::uint64_t own = 0;
      const auto read_on = [&] {
        const std::uint64_t chain = (i + round++) % kChains;
        (void)client.restore(chain, kChainBlocks);
        const CacheClient::Read read = client.read_any(chain, kChainBlocks);
        wrong += read.wrong_blocks;
        own += read.blocks;  // what others drove out before it was read is asked for again
        return own >= 10 * kChainBlocks;
      };
      EXPECT_TRUE(eventually(read_on)) << own;
      blocks_read += own;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(blocks_read.load(), 16U * 10 * kChainBlocks);
  EXPECT_GE(counter("nvme_gets_ok"), (kChains - 4) * kChainBlocks) << "memory holds four chains";
  EXPECT_EQ(wrong.load(), 0U);
  EXPECT_TRUE(counter_becomes("blocks_restoring", 0));
  EXPECT_TRUE(counter_becomes("nvme_gets_waiting", 0));
  EXPECT_TRUE(counter_becomes("restores_failed", 0));
  EXPECT_TRUE(counter_becomes("nvme_io_failed", 0));
  end();
}

// Hot keys stored again and again among cold ones, while segments are reclaimed, and over a kill: what is found is right.
TEST_F(NvmeReports, D16_hot_keys_among_cold_ones_over_reclaim_and_a_kill) {
  configure({folder("a")}, "", "41MiB");
  ASSERT_TRUE(start_small()) << place_.output();
  {
    CacheClient client({.socket = place_.socket()});
    std::uint64_t round = 0;
    const auto write_on = [&] {
      store(client, 0);  // hot: stored anew whenever reclaim took it
      store(client, 100 + round % 30);
      EXPECT_EQ(client.read_any(0, kChainBlocks).wrong_blocks, 0U);
      return ++round >= 30 && counter("nvme_segments_reclaimed") >= 3;
    };
    EXPECT_TRUE(eventually(write_on)) << place_.output();
  }
  kill_and_start();
  CacheClient client({.socket = place_.socket()});
  std::size_t found = 0;
  for (std::uint64_t chain = 0; chain < 130; chain = chain == 0 ? 100 : chain + 1) {
    (void)client.restore(chain, kChainBlocks);
    const CacheClient::Read read = client.read_any(chain, kChainBlocks);
    EXPECT_EQ(read.wrong_blocks, 0U) << chain;
    found += read.blocks;
  }
  EXPECT_GT(found, 2 * kChainBlocks);
  EXPECT_TRUE(counter_becomes("nvme_fault_other_block", 0));
  end();
}

}  // namespace
}  // namespace kvtier::test
