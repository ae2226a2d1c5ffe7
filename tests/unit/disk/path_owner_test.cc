// A path's folder: one owner, all of its bytes at once, and nothing of others is touched.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "daemon/disk/path_size.h"
#include "daemon/io/place_error.h"
#include "libkvclient/base/units.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::test {
namespace {

PathOwnerOptions owner_of(const std::string& folder) {
  return {.folder = folder, .instance = "pid 17, socket S"};
}

PathSizeOptions size_of(std::uint64_t bytes = kMiB) {
  return {.bytes_max = bytes, .bytes_min = 64 * kKiB, .step_bytes = 64 * kKiB};
}

/// Owned and sized, as a start does it that finds nothing to refuse.
Result<OwnedPath> open_path(const std::string& folder, const PathSizeOptions& size = size_of()) {
  Result<OwnedPath> owned = own_path(owner_of(folder));
  if (!owned.is_ok()) return owned;
  const Status status = size_path(owned.value(), size);
  if (status.is_ok()) return owned;
  disown_path(owned.value());
  return status;
}

bool exists(const std::string& file) {
  return std::filesystem::exists(std::filesystem::symlink_status(file));
}

void expect_said(const Status& status, const std::string& words) {
  EXPECT_NE(status.message().find(words), std::string::npos) << status.message();
}

TEST(PathOwner, ASecondOneIsToldWhoHasIt_D15) {
  const ScratchDir folder;
  Result<OwnedPath> first = open_path(folder.path());
  ASSERT_TRUE(first.is_ok()) << first.status().to_string();
  const Result<OwnedPath> second = open_path(folder.path());
  EXPECT_EQ(second.code(), Code::kExists);
  EXPECT_NE(second.status().message().find("in use by instance pid 17, socket S"), std::string::npos)
      << second.status().message();
  // By another name of the same folder.
  const std::string link = folder.path() + "-link";
  ASSERT_EQ(::symlink(folder.path().c_str(), link.c_str()), 0);
  EXPECT_EQ(open_path(link).code(), Code::kExists);
  ::unlink(link.c_str());
  first = Status(Code::kInvalid, "it goes");
  EXPECT_TRUE(open_path(folder.path()).is_ok());
}

TEST(PathOwner, AProcessThatDiesLetsGo_D15) {
  const ScratchDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const Result<OwnedPath> owned = open_path(folder.path());
    ::kill(::getpid(), owned.is_ok() ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(open_path(folder.path()).is_ok());
}

TEST(PathOwner, AllOfItIsAllocatedAtOnceAndNeverMore_R04_D11) {
  const ScratchDir folder;
  {
    const Result<OwnedPath> owned = open_path(folder.path(), size_of(4 * kMiB));
    ASSERT_TRUE(owned.is_ok()) << owned.status().to_string();
    EXPECT_EQ(owned.value().bytes, 4 * kMiB);
    EXPECT_FALSE(owned.value().is_short);
    struct stat facts {};
    ASSERT_EQ(::fstat(owned.value().data.get(), &facts), 0);
    EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), 4 * kMiB);
    EXPECT_EQ(owned.value().home.inode, facts.st_ino);
  }
  EXPECT_EQ(open_path(folder.path(), size_of(8 * kMiB)).value().bytes, 8 * kMiB) << "it may grow";
  const Result<OwnedPath> smaller = open_path(folder.path(), size_of(2 * kMiB));
  EXPECT_EQ(smaller.code(), Code::kInvalid);
  EXPECT_NE(smaller.status().message().find("8 MiB"), std::string::npos) << smaller.status().message();
}

TEST(PathOwner, WhatIsNoFileOfOursIsLeftAlone_R03) {
  const ScratchDir folder;
  ASSERT_EQ(::mkdir(folder.file("kvtier.data").c_str(), 0700), 0);
  EXPECT_FALSE(open_path(folder.path()).is_ok());
  const ScratchDir other;
  std::ofstream(other.file("precious")) << "content";
  ASSERT_EQ(::symlink(other.file("precious").c_str(), other.file("kvtier.data").c_str()), 0);
  EXPECT_FALSE(open_path(other.path()).is_ok()) << "a link is not followed";
  std::string content;
  std::ifstream(other.file("precious")) >> content;
  EXPECT_EQ(content, "content");
  EXPECT_EQ(open_path("/nowhere/at/all").code(), Code::kNotFound);
}

// A file that would fill the file system, as much as the headroom leaves.
TEST(PathOwner, TheHeadroomStaysFree) {
  const PathSizeOptions options{.bytes_max = 1000, .bytes_min = 100, .step_bytes = 60, .headroom_bytes = 300};
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
  PathSizeOptions size = size_of();
  size.headroom_bytes = 1ULL << 60;
  const Result<OwnedPath> refused = open_path(folder.path(), size);
  EXPECT_EQ(refused.code(), Code::kNoSpace);
  expect_said(refused.status(), "lower nvme.headroom or nvme.segment_bytes");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "no lock either";
  ASSERT_TRUE(open_path(folder.path()).is_ok());
  {
    const Result<OwnedPath> kept = open_path(folder.path(), size);
    ASSERT_TRUE(kept.is_ok()) << "what is there takes nothing more";
    EXPECT_EQ(kept.value().bytes, kMiB);
  }
  EXPECT_FALSE(open_path(folder.path(), size_of(512 * kKiB)).is_ok());
  EXPECT_EQ(std::filesystem::file_size(folder.file("kvtier.data")), kMiB) << "that one was there before";
  EXPECT_TRUE(exists(folder.file("kvtier.lock")));
}

// The same file at each start, and no other one, a copy at the same place with the same inode least of all.
TEST(PathOwner, AFileIsToldByInodeAndTimeOfBirth_D15) {
  const ScratchDir folder;
  const FileHome home = open_path(folder.path()).value().home;
  std::fstream(folder.file("kvtier.data"), std::ios::in | std::ios::out) << "content";
  const FileHome again = own_path(owner_of(folder.path())).value().home;
  EXPECT_EQ(again.inode, home.inode);
  EXPECT_EQ(again.birth_ns, home.birth_ns) << "writing is no birth";
  struct statx facts {};
  ASSERT_EQ(::statx(AT_FDCWD, folder.file("kvtier.data").c_str(), 0, STATX_BTIME, &facts), 0);
  const bool is_told = (facts.stx_mask & STATX_BTIME) != 0 && facts.stx_btime.tv_sec > 0;
  EXPECT_EQ(home.birth_ns, is_told ? static_cast<std::uint64_t>(facts.stx_btime.tv_sec) * kNsPerSecond +
                                         facts.stx_btime.tv_nsec
                                   : 0U);
  // A copy of before the original goes has another inode, one of afterwards may have the same.
  for (const bool is_gone : {false, true}) {
    std::filesystem::copy_file(folder.file("kvtier.data"), folder.file("copy"));
    if (is_gone) {
      std::filesystem::remove(folder.file("kvtier.data"));
      std::filesystem::copy_file(folder.file("copy"), folder.file("kvtier.data"));
    } else {
      std::filesystem::rename(folder.file("copy"), folder.file("kvtier.data"));
    }
    const FileHome copied = own_path(owner_of(folder.path())).value().home;
    EXPECT_TRUE(!is_told || !is_same_home(home, copied));
  }
  EXPECT_TRUE(is_same_home({1, 7, 9}, {1, 7, 10}));
  EXPECT_FALSE(is_same_home({1, 7, 9}, {1, 8, 9}));
  EXPECT_FALSE(is_same_home({1, 7, 9}, {2, 7, 9}));
  EXPECT_TRUE(is_same_home({1, 0, 9}, {1, 7, 9}));
  EXPECT_FALSE(is_same_home({1, 0, 9}, {1, 7, 10}));
}

// Somebody else's file was cut, and one of 15 bytes grew to all that the path may have, before it was looked at.
TEST(PathOwner, OwningChangesNoFileAndDisowningUndoesASize) {
  for (const std::uint64_t bytes : {std::uint64_t{15}, 3 * kMiB}) {
    const ScratchDir folder;
    std::ofstream(folder.file("kvtier.data")) << "content";
    std::filesystem::resize_file(folder.file("kvtier.data"), bytes);
    Result<OwnedPath> owned = own_path(owner_of(folder.path()));
    ASSERT_TRUE(owned.is_ok()) << owned.status().to_string();
    EXPECT_EQ(owned.value().bytes, bytes);
    EXPECT_EQ(std::filesystem::file_size(folder.file("kvtier.data")), bytes);
    EXPECT_EQ(plan_path_size(owned.value(), size_of()).is_ok(), bytes <= kMiB);
    EXPECT_EQ(std::filesystem::file_size(folder.file("kvtier.data")), bytes);
    ASSERT_TRUE(size_path(owned.value(), size_of(4 * kMiB)).is_ok());
    disown_path(owned.value());
    EXPECT_EQ(std::filesystem::file_size(folder.file("kvtier.data")), bytes);
    EXPECT_FALSE(exists(folder.file("kvtier.lock"))) << "this start made it";
    std::string content(7, '-');
    std::ifstream(folder.file("kvtier.data")).read(content.data(), 7);
    EXPECT_EQ(content, "content");
  }
}

// A lock that its maker removed is not taken for that of the folder.
TEST(PathOwner, ARemovedLockIsNoLock_D15) {
  const ScratchDir folder;
  Result<OwnedPath> refused = own_path(owner_of(folder.path()));
  ASSERT_TRUE(refused.is_ok());
  disown_path(refused.value());  // and holds both files still
  refused = Status(Code::kInvalid, "it goes");
  const Result<OwnedPath> next = own_path(owner_of(folder.path()));
  ASSERT_TRUE(next.is_ok()) << next.status().to_string();
  EXPECT_EQ(own_path(owner_of(folder.path())).code(), Code::kExists);
}

TEST(PathOwner, WhatIsGivenUpBeginsEmptyAndMayBeSmaller) {
  const ScratchDir folder;
  ASSERT_TRUE(open_path(folder.path(), size_of(8 * kMiB)).is_ok());
  std::fstream(folder.file("kvtier.data"), std::ios::in | std::ios::out) << "content";
  PathSizeOptions size = size_of(2 * kMiB);
  size.is_given_up = true;
  EXPECT_EQ(open_path(folder.path(), size).value().bytes, 2 * kMiB);
  EXPECT_EQ(std::filesystem::file_size(folder.file("kvtier.data")), 2 * kMiB);
  EXPECT_EQ(std::ifstream(folder.file("kvtier.data")).get(), 0) << "nothing is left of it";
}

// Each says what is there and what to do about that, not what the code may mean.
TEST(PathOwner, WhatIsInTheWayIsNamedWithItsCure_D15) {
  const ScratchDir dir;
  const auto said_of = [&](const std::string& name, const auto& make) {
    const std::string folder = dir.file(name);
    std::filesystem::create_directory(folder);
    make(folder);
    return own_path(owner_of(folder)).status();
  };
  using std::filesystem::create_directory;
  expect_said(said_of("a", [](const auto& at) { create_directory(at + "/kvtier.lock"); }),
              "kvtier.lock): Is a directory (errno 21); it is a folder where a file is to be: move it away");
  expect_said(said_of("b", [](const auto& at) { create_directory(at + "/kvtier.data"); }), "move it away");
  expect_said(said_of("c", [](const auto& at) { std::filesystem::create_symlink("x", at + "/kvtier.data"); }),
              "it is a symbolic link, which is not followed");
  expect_said(said_of("d", [](const auto& at) { ::mkfifo((at + "/kvtier.data").c_str(), 0600); }),
              "kvtier.data is not a regular file; move it away");
  EXPECT_TRUE(exists(dir.file("d/kvtier.data")));
  EXPECT_FALSE(exists(dir.file("d/kvtier.lock")));
  std::ofstream(dir.file("file")) << "content";
  expect_said(own_path(owner_of(dir.file("file"))).status(), dir.file("file") + " is no folder");
  expect_said(own_path(owner_of(dir.file("file/below"))).status(), "a parent of " + dir.file("file/below"));
  expect_said(own_path(owner_of(dir.file("none"))).status(), "mkdir -p " + dir.file("none"));
  expect_said(folder_error("open", "/x", EROFS), "remount it read-write");
  expect_said(folder_error("open", "/x", EACCES), "give the folder to the daemon's user");
  expect_said(file_error("open", "/x/y", EACCES),
              "this file is not: give it to the daemon's user (chown /x/y)");
  expect_said(file_error("open", "/x/y", EROFS), "remount it read-write");
}

// The process's limit of file sizes stands for a disk that is full: fewer whole segments, and said so.
TEST(PathOwner, ADiskWithLessRoomGivesFewerSegments_D11) {
  const ScratchDir folder;
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 300 * kKiB, .rlim_max = 300 * kKiB};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    const Result<OwnedPath> owned = open_path(folder.path());
    const bool is_right = owned.is_ok() && owned.value().bytes == 256 * kKiB && owned.value().is_short;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace kvtier::test
