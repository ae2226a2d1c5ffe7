// A path's folder: one owner, all of its bytes at once, and nothing of others is touched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "daemon/disk/path_owner.h"
#include "libkvclient/base/units.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::test {
namespace {

PathOwnerOptions options_for(const std::string& folder, std::uint64_t bytes = kMiB) {
  return {.folder = folder,
          .bytes_max = bytes,
          .bytes_min = 64 * kKiB,
          .step_bytes = 64 * kKiB,
          .instance = "pid 17, socket S"};
}

TEST(PathOwner, ASecondOneIsToldWhoHasIt_D15) {
  const ScratchDir folder;
  Result<OwnedPath> first = own_path(options_for(folder.path()));
  ASSERT_TRUE(first.is_ok()) << first.status().to_string();
  const Result<OwnedPath> second = own_path(options_for(folder.path()));
  EXPECT_EQ(second.code(), Code::kExists);
  EXPECT_NE(second.status().message().find("in use by instance pid 17, socket S"), std::string::npos)
      << second.status().message();
  // By another name of the same folder.
  const std::string link = folder.path() + "-link";
  ASSERT_EQ(::symlink(folder.path().c_str(), link.c_str()), 0);
  EXPECT_EQ(own_path(options_for(link)).code(), Code::kExists);
  ::unlink(link.c_str());
  first = Status(Code::kInvalid, "it goes");
  EXPECT_TRUE(own_path(options_for(folder.path())).is_ok());
}

TEST(PathOwner, AProcessThatDiesLetsGo_D15) {
  const ScratchDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<OwnedPath> owned = own_path(options_for(folder.path()));
    ::kill(::getpid(), owned.is_ok() ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(own_path(options_for(folder.path())).is_ok());
}

TEST(PathOwner, AllOfItIsAllocatedAtOnceAndNeverMore_R04_D11) {
  const ScratchDir folder;
  {
    const Result<OwnedPath> owned = own_path(options_for(folder.path(), 4 * kMiB));
    ASSERT_TRUE(owned.is_ok()) << owned.status().to_string();
    EXPECT_EQ(owned.value().bytes, 4 * kMiB);
    EXPECT_FALSE(owned.value().is_short);
    struct stat facts {};
    ASSERT_EQ(::fstat(owned.value().data.get(), &facts), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), 4 * kMiB);
    EXPECT_EQ(owned.value().home_inode, facts.st_ino);
  }
  EXPECT_EQ(own_path(options_for(folder.path(), 8 * kMiB)).value().bytes, 8 * kMiB) << "it may grow";
  const Result<OwnedPath> smaller = own_path(options_for(folder.path(), 2 * kMiB));
  EXPECT_EQ(smaller.code(), Code::kInvalid);
  EXPECT_NE(smaller.status().message().find("8 MiB"), std::string::npos) << smaller.status().message();
}

TEST(PathOwner, WhatIsNoFileOfOursIsLeftAlone_R03) {
  const ScratchDir folder;
  ASSERT_EQ(::mkdir(folder.file("kvtier.data").c_str(), 0700), 0);
  EXPECT_FALSE(own_path(options_for(folder.path())).is_ok());
  const ScratchDir other;
  std::ofstream(other.file("precious")) << "content";
  ASSERT_EQ(::symlink(other.file("precious").c_str(), other.file("kvtier.data").c_str()), 0);
  EXPECT_FALSE(own_path(options_for(other.path())).is_ok()) << "a link is not followed";
  std::string content;
  std::ifstream(other.file("precious")) >> content;
  EXPECT_EQ(content, "content");
  EXPECT_EQ(own_path(options_for("/nowhere/at/all")).code(), Code::kNotFound);
}

// A file that would fill the file system, as much as the headroom leaves.
TEST(PathOwner, TheHeadroomStaysFree) {
  const PathOwnerOptions options{
      .bytes_max = 1000, .bytes_min = 100, .step_bytes = 60, .headroom_bytes = 300};
  EXPECT_EQ(path_bytes_fitting(options, {.free_bytes = 1300}), 1000U);
  EXPECT_EQ(path_bytes_fitting(options, {.free_bytes = 1299}), 940U) << "14 steps above the least";
  EXPECT_EQ(path_bytes_fitting(options, {.free_bytes = 400}), 100U);
  EXPECT_LT(path_bytes_fitting(options, {.free_bytes = 399}), 100U) << "refused";
  EXPECT_LT(path_bytes_fitting(options, {.free_bytes = 10}), 100U);
  // What it has already it keeps, and what is allocated counts as free.
  EXPECT_EQ(path_bytes_fitting(options, {400, 400, 100}), 400U);
  EXPECT_EQ(path_bytes_fitting(options, {400, 400, 420}), 520U);
  EXPECT_EQ(path_bytes_fitting(options, {400, 400, 900}), 1000U);
  EXPECT_EQ(path_bytes_fitting(options, {400, 0, 100}), 400U) << "a file with holes";
}

TEST(PathOwner, WhatIsRefusedLeavesNoFile) {
  const ScratchDir folder;
  PathOwnerOptions options = options_for(folder.path());
  options.headroom_bytes = 1ULL << 60;
  const Result<OwnedPath> refused = own_path(options);
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  EXPECT_NE(refused.status().message().find("lower nvme.headroom"), std::string::npos)
      << refused.status().message();
  struct stat facts {};
  EXPECT_NE(::stat(folder.file("kvtier.data").c_str(), &facts), 0);
  ASSERT_TRUE(own_path(options_for(folder.path())).is_ok());
  const Result<OwnedPath> kept = own_path(options);
  ASSERT_TRUE(kept.is_ok()) << "what is there takes nothing more";
  EXPECT_EQ(kept.value().bytes, kMiB);
  EXPECT_FALSE(own_path(options_for(folder.path(), 512 * kKiB)).is_ok());
  EXPECT_EQ(::stat(folder.file("kvtier.data").c_str(), &facts), 0) << "that one was there before";
}

TEST(PathOwner, WhoBeginsAnewMayMakeItSmaller) {
  const ScratchDir folder;
  ASSERT_TRUE(own_path(options_for(folder.path(), 8 * kMiB)).is_ok());
  PathOwnerOptions options = options_for(folder.path(), 2 * kMiB);
  options.may_shrink = true;
  EXPECT_EQ(own_path(options).value().bytes, 2 * kMiB);
  struct stat facts {};
  ASSERT_EQ(::stat(folder.file("kvtier.data").c_str(), &facts), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), 2 * kMiB);
}

// The process's limit of file sizes stands for a disk that is full: fewer whole segments, and said so.
TEST(PathOwner, ADiskWithLessRoomGivesFewerSegments_D11) {
  const ScratchDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 300 * kKiB, .rlim_max = 300 * kKiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    const Result<OwnedPath> owned = own_path(options_for(folder.path()));
    const bool is_right = owned.is_ok() && owned.value().bytes == 256 * kKiB && owned.value().is_short;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kvtier::test
