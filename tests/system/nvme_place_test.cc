// Where a tier may find itself: little locked memory, no io_uring, file systems of all kinds, a full one, a folder that is
// another daemon's. It starts with a fallback that kvctl shows, or says why not.

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tests/system/nvme_fixture.h"
#include "tests/unit/io/in_child.h"

namespace kvtier::test {
namespace {

class NvmePlace : public NvmeTest {
 protected:
  // Everything goes to disk and comes back with its bytes.
  void expect_blocks_go_there_and_back() {
    CacheClient client({.socket = place_.socket()});
    ASSERT_EQ(client.code(), KVC_OK) << client.error();
    ASSERT_NO_FATAL_FAILURE(save_all(client));
    const std::uint64_t before = counter("nvme_gets_ok");
    EXPECT_GT(read_all(client), 0U);
    EXPECT_TRUE(counter_reaches("nvme_gets_ok", before + kChainBlocks)) << place_.output();
    EXPECT_TRUE(counter_becomes("restores_failed", 0));
  }
};

// D-05: what may not be locked is used unregistered, and the limit is named.
class NvmeLockedMemory : public NvmePlace, public testing::WithParamInterface<std::uint64_t> {};

TEST_P(NvmeLockedMemory, D05_memory_beyond_the_limit_is_used_unregistered_and_said) {
  if (::geteuid() != 0) GTEST_SKIP() << "a user whom the limit binds, and its folders, need root";
  // A user of its own: locked memory is counted per user.
  const uid_t user = 200'000 + static_cast<uid_t>(::getpid());
  const std::string dir = folder("a");
  configure({dir});
  ASSERT_EQ(::chown(dir.c_str(), user, user), 0);
  ASSERT_EQ(::chown(folder("run").c_str(), user, user), 0);
  const auto limited = [] { (void)limit(RLIMIT_MEMLOCK, GetParam()); };
  std::ofstream(place_.file("output")).flush();
  ASSERT_EQ(::chown(place_.file("output").c_str(), user, user), 0);
  ASSERT_TRUE(start_small({.uid = user, .before_exec = limited})) << place_.output();
  (void)kvctl({"status"});
  EXPECT_NE(said().find("RLIMIT_MEMLOCK"), std::string::npos) << said();
  EXPECT_NE(said().find("tier nvme    serving"), std::string::npos) << said();
  EXPECT_LE(counter("nvme_registered_bytes"), GetParam());
  end();
}

INSTANTIATE_TEST_SUITE_P(Bytes, NvmeLockedMemory, testing::Values(64 << 10, 8 << 20));

// D-07: the same bytes, by threads, and why.
class NvmeDenied : public NvmePlace, public testing::WithParamInterface<int> {};

TEST_P(NvmeDenied, D07_threads_serve_where_io_uring_is_denied_and_status_says_why) {
  configure({folder("a")});
  const auto deny = [] { (void)deny_calls({SYS_io_uring_setup}, GetParam()); };
  ASSERT_TRUE(start_small({.before_exec = deny})) << place_.output();
  EXPECT_TRUE(status_has("backend posix (io_uring_setup")) << said();
  EXPECT_TRUE(status_has("seccomp")) << said();
  EXPECT_TRUE(status_has("tier nvme    serving")) << said();
  expect_blocks_go_there_and_back();
  end();
  // What threads wrote a ring reads.
  ASSERT_TRUE(start_small()) << place_.output();
  CacheClient client({.socket = place_.socket()});
  EXPECT_GT(read_all(client), 0U);
}

TEST_P(NvmeDenied, D07_a_ring_that_is_demanded_is_refused_with_the_reason_and_memory_serves) {
  configure({folder("a")}, "  backend: uring\n");
  const auto deny = [] { (void)deny_calls({SYS_io_uring_setup}, GetParam()); };
  ASSERT_TRUE(start_small({.before_exec = deny})) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_NE(said().find("io_uring_setup"), std::string::npos) << said();
  EXPECT_NE(said().find("seccomp"), std::string::npos) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

INSTANTIATE_TEST_SUITE_P(Errno, NvmeDenied, testing::Values(EPERM, ENOSYS), [](const auto& each) {
  return std::string(each.param == EPERM ? "EPERM" : "ENOSYS");
});

/// Mounted below the test's folder, and gone with it.
class Mount {
 public:
  Mount(std::string at, const char* type, const std::string& options) : at_(std::move(at)) {
    is_mounted_ = ::mount(type, at_.c_str(), type, 0, options.c_str()) == 0;
    error_ = is_mounted_ ? 0 : errno;
  }
  ~Mount() {
    if (is_mounted_) (void)::umount2(at_.c_str(), MNT_DETACH);
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  [[nodiscard]] bool is_mounted() const { return is_mounted_; }
  [[nodiscard]] std::string words() const { return at_ + ": mount: " + std::strerror(error_); }

 private:
  const std::string at_;
  bool is_mounted_ = false;
  int error_ = 0;
};

class NvmeFileSystem : public NvmePlace {};

TEST_F(NvmeFileSystem, D09_tmpfs_serves_through_the_page_cache_and_says_so) {
  const Mount mount(folder("m"), "tmpfs", "size=200m");
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  configure({place_.file("m")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has("tmpfs, page cache (")) << said();
  expect_blocks_go_there_and_back();
  end();
}

TEST_F(NvmeFileSystem, D09_direct_that_is_demanded_of_tmpfs_is_refused_with_the_setting) {
  const Mount mount(folder("m"), "tmpfs", "size=200m");
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  configure({place_.file("m")}, "  direct: on\n");
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_TRUE(status_has("O_DIRECT is demanded and does not work")) << said();
  EXPECT_TRUE(status_has("set nvme.direct to auto")) << said();
  CacheClient client({.socket = place_.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
}

TEST_F(NvmeFileSystem, D09_overlay_serves_and_says_what_it_is) {
  const std::string options =
      "lowerdir=" + folder("l") + ",upperdir=" + folder("u") + ",workdir=" + folder("w");
  const Mount mount(folder("m"), "overlay", options);
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  configure({place_.file("m")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has("overlay, ")) << said();
  expect_blocks_go_there_and_back();
  end();
}

// Whatever lies below the build's temporary folder: ext4 on most machines.
TEST_F(NvmeFileSystem, D09_the_temporary_folders_own_file_system) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  (void)kvctl({"status"});
  const bool is_said = status_has(", O_DIRECT, alignment ") || status_has(", page cache (");
  EXPECT_TRUE(is_said) << said();
  expect_blocks_go_there_and_back();
  end();
}

// D-11: a cap beyond what the file system has is what there is, and said; writing on takes old places.
TEST_F(NvmeFileSystem, D11_a_cap_beyond_the_disk_is_what_there_is) {
  const Mount mount(folder("m"), "tmpfs", "size=64m");
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  configure({place_.file("m")}, "", "1GiB");
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_EQ(kvctl({"status"}), 1);
  EXPECT_TRUE(status_has("its file system had no more beside the 1 MiB of nvme.headroom")) << said();
  CacheClient client({.socket = place_.socket()});
  for (std::uint64_t chain = 100; chain < 150; ++chain) store(client, chain);  // 200 MiB
  EXPECT_TRUE(counter_reaches("nvme_segments_reclaimed", 1)) << place_.output();
  EXPECT_TRUE(eventually([&] { return client.restore(149, kChainBlocks).ready == kChainBlocks; }));
  EXPECT_EQ(client.read(149, kChainBlocks).wrong_blocks, 0U);
  EXPECT_TRUE(counter_becomes("nvme_io_failed", 0)) << "all of its file is allocated at once";
  EXPECT_TRUE(client.works(1)) << client.error();
  end();
}

// D-11: a full disk takes no new space's description, so none of its blocks; when there is room again they are taken.
TEST_F(NvmeFileSystem, D11_room_on_a_full_disk_is_found_without_a_restart) {
  const Mount mount(folder("m"), "tmpfs", "size=160m");
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  const std::string filler = place_.file("m") + "/filler";
  configure({place_.file("m")});
  ASSERT_TRUE(start_small()) << place_.output();
  {
    std::ofstream rest(filler);
    const std::string bytes(1 << 20, 'x');
    while (rest.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) {
    }
  }
  struct statvfs room {};
  ASSERT_EQ(::statvfs(place_.file("m").c_str(), &room), 0);
  ASSERT_EQ(room.f_bfree, 0U);
  // Many specs: the last page of the file of spaces has room for some.
  std::vector<std::unique_ptr<CacheClient>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<CacheClient>(
        CacheClient::Options{.socket = place_.socket(), .model = "m" + std::to_string(i)}));
    ASSERT_EQ(clients.back()->code(), KVC_OK) << clients.back()->error();
    ASSERT_TRUE(eventually([&] { return clients.back()->store(1, 0, 16) == 16; })) << clients.back()->error();
  }
  EXPECT_TRUE(counter_reaches("nvme_spaces_failed", 1)) << place_.output();
  EXPECT_TRUE(clients.back()->works(5)) << "memory serves";
  std::filesystem::remove(filler);
  CacheClient& last = *clients.back();
  std::uint64_t chain = 1000;
  EXPECT_TRUE(eventually([&] {
    (void)last.store(chain++, 0, kChainBlocks);
    std::size_t blocks = 0;
    for (std::uint64_t i = 1000; i < chain; ++i)
      blocks += last.count_state(i, kChainBlocks, KVC_STATE_ON_DISK);
    return blocks > 4 * kChainBlocks;
  })) << place_.output();
  clients.clear();
  end();
}

TEST_F(NvmeFileSystem, a_read_only_file_system_is_left_out_with_the_reason) {
  const Mount mount(folder("m"), "tmpfs", "size=200m,ro");
  if (!mount.is_mounted()) GTEST_SKIP() << mount.words();
  if (::access(place_.file("m").c_str(), W_OK) == 0) {
    ASSERT_EQ(::mount("tmpfs", place_.file("m").c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, ""), 0);
  }
  configure({place_.file("m"), folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has(place_.file("m") + " is left out: ")) << said();
  EXPECT_TRUE(status_has("remount it read-write")) << said();
  EXPECT_FALSE(status_has("chown")) << said();
  EXPECT_TRUE(status_has(place_.file("a") + " ok")) << said();
  expect_blocks_go_there_and_back();
  end();
}

// D-15: a second daemon is told whose the folder is, takes nothing, and serves from memory.
TEST_F(NvmePlace, D15_a_folder_of_another_daemon_is_left_alone) {
  configure({folder("a")});
  ASSERT_TRUE(start_small()) << place_.output();
  DaemonPlace second;
  second.write_config("nvme:\n  segment_bytes: 8MiB\n  paths:\n    - {dir: " + place_.file("a") +
                      ", bytes: 129MiB}\n");
  const std::unique_ptr<ChildProcess> other = second.start();
  ASSERT_NE(other, nullptr) << second.output();
  EXPECT_NE(second.output().find(place_.file("a") + " is in use by instance "), std::string::npos)
      << second.output();
  CacheClient client({.socket = second.socket()});
  EXPECT_TRUE(client.works(1)) << client.error();
  expect_blocks_go_there_and_back();
  end();
}

// The same folder twice in one configuration; a link to it is seen when it is opened.
TEST_F(NvmePlace, D15_one_folder_is_one_path) {
  configure({folder("a"), place_.file("a")});
  const std::unique_ptr<ChildProcess> child = place_.launch(place_.command());
  EXPECT_NE(child->wait(), 0);
  EXPECT_NE(place_.output().find(" is nvme.paths[0] already"), std::string::npos) << place_.output();
  std::filesystem::create_directory_symlink(place_.file("a"), place_.file("link"));
  configure({place_.file("a"), place_.file("link")});
  ASSERT_TRUE(start_small()) << place_.output();
  EXPECT_TRUE(status_has(place_.file("link") + " is left out: ")) << said();
  EXPECT_TRUE(status_has("is the same folder as nvme.paths[0]")) << said();
  expect_blocks_go_there_and_back();
  end();
}

}  // namespace
}  // namespace kvtier::test
