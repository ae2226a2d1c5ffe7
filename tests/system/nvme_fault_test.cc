// Disks of a running daemon that fail, hang and come back: what kvctl says, that the other path and memory serve on, and
// that nothing but the disk's repair is needed.

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tests/system/bad_disk.h"
#include "tests/system/nvme_fixture.h"

namespace kvtier::test {
namespace {

class NvmeFaults : public NvmeTest {
 protected:
  void SetUp() override {
    if (const std::string why = BadDisk::hindrance(); !why.empty()) GTEST_SKIP() << why;
    a_ = folder("a");
    b_ = folder("b");
  }
  // Two paths, short deadlines, calls that the test can reach.
  void begin(const std::vector<std::string>& dirs, const std::vector<std::string>& more_environment = {}) {
    configure(dirs, "  backend: posix\n  io_deadline_ms: 300\n");
    std::vector<std::string> environment = disk_.environment();
    environment.insert(environment.end(), more_environment.begin(), more_environment.end());
    ASSERT_TRUE(start_small({.environment = environment})) << place_.output();
    client_ = std::make_unique<CacheClient>(CacheClient::Options{.socket = place_.socket()});
    ASSERT_EQ(client_->code(), KVC_OK) << client_->error();
  }
  // Whatever the disks do, memory serves, and the daemon answers.
  void expect_memory_serves() {
    ASSERT_TRUE(eventually([&] { return client_->works(next_chain_); })) << client_->error();
    ++next_chain_;
  }
  // What was there before the fault is there after it, but for copies that could not be read and blocks that found no
  // disk when they left memory: both are counted.
  void expect_all_come_back(std::size_t blocks) {
    const auto gone = [&] { return counter("disk_lost") + counter("evictions_unsaved"); };
    EXPECT_TRUE(eventually([&] { return read_all(*client_) + gone() >= blocks; }))
        << read_all(*client_) << " and " << gone() << " of " << blocks << "\n"
        << place_.output();
  }
  std::size_t on_disk() {
    std::size_t blocks = 0;
    for (std::uint64_t chain = 0; chain < kChains; ++chain)
      blocks += client_->count_state(chain, kChainBlocks, KVC_STATE_ON_DISK);
    return blocks;
  }

  std::string a_;
  std::string b_;
  BadDisk disk_{place_.file("bad")};
  std::unique_ptr<CacheClient> client_;
  std::uint64_t next_chain_ = 1000;
};

// D-13: restores end by the deadline of the disk, later ones at once; the thaw is found by the daemon itself.
TEST_F(NvmeFaults, D13_F10_a_path_that_hangs_is_slow_until_it_answers_again) {
  begin({a_, b_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  const std::size_t all = read_all(*client_);
  disk_.stall(a_, "rw");
  const std::size_t during = read_all(*client_);
  EXPECT_LT(during, all);
  EXPECT_TRUE(status_comes_to(a_ + " slow (its device does not answer in time)")) << said();
  EXPECT_TRUE(counter_reaches("nvme_io_late", 2));
  EXPECT_TRUE(counter_becomes("nvme_paths_ok", 1));
  EXPECT_EQ(kvctl({"status"}), 1) << "degraded";
  EXPECT_TRUE(status_has(b_ + " ok")) << said();
  expect_memory_serves();
  const std::uint64_t before = counter("nvme_gets_ok");
  EXPECT_GT(read_all(*client_), 0U);
  EXPECT_TRUE(counter_reaches("nvme_gets_ok", before + 1)) << "the other path serves";
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  EXPECT_TRUE(counter_becomes("nvme_requests_held", 0)) << "the late answers have come";
  expect_all_come_back(all);
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  end();
}

// The service manager is told all the while that the daemon is alive. It has to be listened to: who is not waits.
TEST_F(NvmeFaults, D13_the_watchdog_is_fed_while_the_disk_hangs) {
  begin({a_}, {"WATCHDOG_USEC=1000000"});
  ASSERT_NO_FATAL_FAILURE(save(*client_, 0, 1));
  disk_.stall(a_, "rw");
  const auto is_slow = [&] {
    place_.notify().drain();
    (void)client_->store(next_chain_++, 0, kChainBlocks);
    return status_has(a_ + " slow (its device does not answer in time)");
  };
  EXPECT_TRUE(eventually(is_slow)) << said();
  place_.notify().drain();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(place_.notify().wait_for("WATCHDOG=1", kPatienceNs));
  expect_memory_serves();
  disk_.heal();
  place_.notify().drain();
  end();
}

// As on a file system that is frozen: what is on the path can be read all the while.
TEST_F(NvmeFaults, D13_a_path_whose_writes_hang_is_slow_and_read_on) {
  begin({a_, b_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  const std::size_t all = read_all(*client_);
  disk_.stall(a_, "w");
  EXPECT_TRUE(eventually([&] {
    (void)client_->store(next_chain_++, 0, kChainBlocks);
    (void)client_->read_any(0, kChainBlocks);
    return status_has(a_ + " slow (its device does not answer in time)");
  })) << said();
  EXPECT_TRUE(status_has(b_ + " ok")) << said();
  expect_all_come_back(all);
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  EXPECT_TRUE(counter_becomes("nvme_requests_held", 0));
  expect_all_come_back(all);
  end();
}

struct FailingCase {
  const char* name;
  const char* kinds;
  int error;
  const char* advice;
};
void PrintTo(const FailingCase& each, std::ostream* out) {
  *out << each.name;
}

class NvmeFailing : public NvmeFaults, public testing::WithParamInterface<FailingCase> {};

// The path is failed with its reason and what to do; the other one takes what is new; repaired, it serves again.
TEST_P(NvmeFailing, D11_a_path_that_fails_is_said_and_comes_back_without_a_restart) {
  begin({a_, b_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  const std::size_t all = read_all(*client_);
  disk_.fail(a_, GetParam().kinds, GetParam().error);
  const auto is_failed = [&] {
    store(*client_, next_chain_++);  // reads alone do not find a path that cannot be written
    (void)read_all(*client_);
    return status_has(a_ + " failed (" + std::strerror(GetParam().error) + "; " + GetParam().advice);
  };
  EXPECT_TRUE(eventually(is_failed)) << said();
  EXPECT_TRUE(counter_becomes("nvme_paths_ok", 1));
  EXPECT_EQ(kvctl({"status"}), 1) << "degraded";
  EXPECT_TRUE(status_has(b_ + " ok")) << said();
  EXPECT_GT(counter("nvme_io_failed"), 0U);
  expect_memory_serves();
  const std::uint64_t before = counter("nvme_puts");
  const auto is_taken = [&] { return store(*client_, next_chain_++), counter("nvme_puts") >= before + 64; };
  EXPECT_TRUE(eventually(is_taken)) << "the other path takes what is new";
  if (std::string(GetParam().kinds) == "w") expect_all_come_back(all);  // what cannot be written can be read
  EXPECT_GT(read_all(*client_), 0U);
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  expect_all_come_back(all);
  end();
}

INSTANTIATE_TEST_SUITE_P(Errors, NvmeFailing,
                         testing::Values(FailingCase{"EIO", "rw", EIO,
                                                     "the device or its file system failed"},
                                         FailingCase{"ENOSPC", "w", ENOSPC, "free space on this file system"},
                                         FailingCase{"EROFS", "w", EROFS, "the file system is read-only"},
                                         FailingCase{"vanished", "rw", ENODEV, "the device is gone"}),
                         [](const auto& each) { return std::string(each.param.name); });

// What a device could not read once is a miss, counted, and no loss: it is read when the device can.
TEST_F(NvmeFaults, C06_blocks_whose_reads_failed_once_are_read_after_the_repair) {
  begin({a_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  ASSERT_EQ(kvctl({"flush", "--all"}), 0) << said();
  ASSERT_EQ(client_->count_state(0, kChainBlocks, KVC_STATE_ON_DISK), kChainBlocks);
  disk_.fail(a_, "r", EIO);
  EXPECT_EQ(client_->restore(0, kChainBlocks).ready, 0U);
  EXPECT_TRUE(counter_reaches("restores_failed", kChainBlocks));
  EXPECT_TRUE(counter_reaches("nvme_io_failed", 1));
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  EXPECT_TRUE(eventually([&] { return client_->restore(0, kChainBlocks).ready == kChainBlocks; }));
  const CacheClient::Read read = client_->read(0, kChainBlocks);
  EXPECT_EQ(read.blocks, kChainBlocks);
  EXPECT_EQ(read.wrong_blocks, 0U);
  EXPECT_EQ(counter("disk_lost"), 0U);
  end();
}

// With every path gone the daemon is a cache in memory, and one again with disks afterwards.
TEST_F(NvmeFaults, F10_without_any_path_memory_serves_and_the_tier_returns) {
  begin({a_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  const std::size_t all = read_all(*client_);
  disk_.fail(a_, "rw", EIO);
  EXPECT_TRUE(eventually([&] { return (void)read_all(*client_), status_has(a_ + " failed"); })) << said();
  EXPECT_TRUE(counter_becomes("nvme_paths_ok", 0));
  for (int i = 0; i < 8; ++i) store(*client_, next_chain_++);  // twice what memory holds
  expect_memory_serves();
  EXPECT_TRUE(counter_reaches("evictions_unsaved", 1));
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  expect_all_come_back(all);
  const std::uint64_t before = counter("nvme_puts");
  EXPECT_TRUE(eventually([&] { return store(*client_, next_chain_++), counter("nvme_puts") > before; }));
  end();
}

// What status says of the tier is what a removal from disk meets.
TEST_F(NvmeFaults, a_tier_none_of_whose_paths_serves_is_failing) {
  begin({a_});
  ASSERT_NO_FATAL_FAILURE(save(*client_, 0, 2));
  EXPECT_TRUE(status_has("tier nvme    serving")) << said();
  disk_.fail(a_, "rw", EIO);
  EXPECT_TRUE(eventually([&] {
    return (void)store(*client_, next_chain_++), status_has("tier nvme    failing");
  })) << said();
  EXPECT_TRUE(status_has(a_ + " failed (")) << said();
  EXPECT_EQ(kvctl({"flush", "--all", "--disk"}), 2) << said();
  EXPECT_NE(said().find("none of its paths can be written"), std::string::npos) << said();
  disk_.heal();
  EXPECT_TRUE(status_comes_to("tier nvme    serving")) << said();
  end();
}

// A folder that is removed below a daemon: its descriptors serve on; the next start says what is missing.
TEST_F(NvmeFaults, a_folder_that_is_removed_costs_its_blocks_at_the_next_start_and_no_more) {
  begin({a_, b_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  const std::size_t all = read_all(*client_);
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  std::filesystem::remove_all(a_);
  EXPECT_EQ(read_all(*client_), all);
  EXPECT_EQ(kvctl({"status"}), 1) << "it is said while something can be done";
  EXPECT_TRUE(status_has("NVMe path " + a_ + " serves, but its file was removed or moved")) << said();
  EXPECT_TRUE(status_has(a_ + " ok")) << said();
  client_.reset();
  end();
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_TRUE(status_has(a_ + " is left out: ")) << said();
  EXPECT_TRUE(status_has(b_ + " ok")) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_GT(read_all(client), 0U);
}

// The same of a file that went, of one that another took the place of, and of one that was put back.
TEST_F(NvmeFaults, a_file_that_is_not_where_the_next_start_looks_for_it_is_said) {
  begin({a_});
  const std::string file = a_ + "/kvtier.data";
  std::filesystem::rename(file, a_ + "/away");
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("its file was removed or moved: what is on it is gone at the next start"),
            std::string::npos)
      << said();
  std::ofstream(file) << "another";
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("its file was replaced by another"), std::string::npos) << said();
  std::filesystem::rename(a_ + "/away", file);
  EXPECT_EQ(kvctl({"status"}), 0) << said();
  std::filesystem::rename(a_, place_.file("moved"));
  EXPECT_EQ(kvctl({"status"}), 1) << said();
  EXPECT_NE(said().find("its file was removed or moved"), std::string::npos) << said();
  end();
}

// what a dead client had asked for lands in slots that are nobody else's, and they come back.
TEST_F(NvmeFaults, R08_restores_of_a_killed_client_come_back) {
  begin({a_});
  ASSERT_NO_FATAL_FAILURE(save_all(*client_));
  ASSERT_TRUE(eventually([&] { return on_disk() > 4 * kChainBlocks; }));
  disk_.stall(a_, "r");
  const pid_t child = in_child([&] {
    CacheClient victim({.socket = place_.socket(), .deadline_ns = 60 * kNsPerSecond});
    for (std::uint64_t chain = 0; chain < kChains; ++chain) (void)victim.restore(chain, kChainBlocks);
    return 0;
  });
  EXPECT_TRUE(eventually([&] { return counter("blocks_restoring") > 0; }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(counter_becomes("sessions", 1));
  EXPECT_TRUE(counter_becomes("zombies", 0));
  expect_memory_serves();
  disk_.heal();
  EXPECT_TRUE(status_comes_to(a_ + " ok")) << said();
  EXPECT_TRUE(counter_becomes("blocks_restoring", 0));
  EXPECT_TRUE(counter_becomes("nvme_requests_held", 0));
  EXPECT_TRUE(counter_becomes("slots_quarantined", 0));
  EXPECT_GT(read_all(*client_), 4 * kChainBlocks);
  end();
}

}  // namespace
}  // namespace kvtier::test
