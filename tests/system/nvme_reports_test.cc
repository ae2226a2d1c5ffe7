// Field reports of recovery and of disks, with the whole daemon.

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>

#include "daemon/disk/format.h"
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

// Ten thousand loads asked for at once by sixteen clients: each ends, all bytes are right, and nothing stays in flight.
TEST_F(NvmeReports, D03_sixteen_clients_ask_for_ten_thousand_loads) {
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient writer({.socket = place_.socket()});
  ASSERT_NO_FATAL_FAILURE(save_all(writer));
  std::atomic<std::uint64_t> loads = 0;
  std::atomic<std::uint64_t> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 16; ++i) {
    threads.emplace_back([&, i] {
      CacheClient client({.socket = place_.socket()});
      for (std::uint64_t round = 0; round < 10; ++round) {
        const std::uint64_t chain = (i + round) % kChains;
        (void)client.restore(chain, kChainBlocks);
        wrong += client.read_any(chain, kChainBlocks).wrong_blocks;
        loads += kChainBlocks;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loads.load(), 16U * 10 * kChainBlocks);
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
