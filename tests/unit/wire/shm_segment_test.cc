#include "libkvclient/wire/shm_segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace kvtier {
namespace {

constexpr std::uint64_t kBytes = 64 * 1024;

UniqueFd make(bool reserve_pages = true) {
  Result<UniqueFd> fd = shm_create("test", kBytes, {.reserve_pages = reserve_pages});
  EXPECT_TRUE(fd.is_ok()) << fd.status().to_string();
  return std::move(fd).value();
}

std::uint64_t pages_of(int fd) {
  struct stat info {};
  EXPECT_EQ(::fstat(fd, &info), 0);
  return static_cast<std::uint64_t>(info.st_blocks) * 512 / 4096;
}

TEST(ShmSegment, IsSealedPrivateAndReserved) {
  const UniqueFd fd = make();
  EXPECT_TRUE(shm_verify(fd.get(), kBytes).is_ok());
  EXPECT_EQ(shm_verify(fd.get(), kBytes + 4096).code(), Code::kInvalid);
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_NE(::ftruncate(fd.get(), 2 * kBytes), 0);
  struct stat info {};
  ASSERT_EQ(::fstat(fd.get(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(pages_of(fd.get()), kBytes / 4096);
  EXPECT_NE(::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(ShmSegment, AnUnsealedSegmentIsRefused) {
  const UniqueFd fd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), kBytes), 0);
  EXPECT_EQ(shm_verify(fd.get(), kBytes).code(), Code::kInvalid);
}

TEST(ShmSegment, PagesComeAndGo) {
  const UniqueFd fd = make(false);
  EXPECT_EQ(pages_of(fd.get()), 0U);
  ASSERT_TRUE(shm_reserve(fd.get(), 0, kBytes).is_ok());
  EXPECT_EQ(pages_of(fd.get()), kBytes / 4096);
  const ShmMapping mapping = ShmMapping::map(fd.get(), kBytes, ShmAccess::kReadWrite).value();
  std::memset(mapping.data(), 1, kBytes);
  ASSERT_TRUE(shm_punch(fd.get(), 4096, 4096).is_ok());
  EXPECT_EQ(pages_of(fd.get()), kBytes / 4096 - 1);
  EXPECT_EQ(mapping.data()[4096], std::byte{0});
  EXPECT_EQ(mapping.data()[0], std::byte{1});
}

TEST(ShmSegment, AReadOnlyDescriptorCannotBeMappedForWriting) {
  const UniqueFd fd = make();
  const UniqueFd reader = std::move(shm_reopen_read_only(fd.get())).value();
  EXPECT_TRUE(ShmMapping::map(reader.get(), kBytes, ShmAccess::kReadOnly).is_ok());
  EXPECT_EQ(ShmMapping::map(reader.get(), kBytes, ShmAccess::kReadWrite).code(), Code::kSystem);
}

TEST(ShmSegment, MappingsShareAndMove) {
  const UniqueFd fd = make();
  ShmMapping writer = ShmMapping::map(fd.get(), kBytes, ShmAccess::kReadWrite).value();
  const ShmMapping reader = ShmMapping::map(fd.get(), kBytes, ShmAccess::kReadOnly).value();
  ShmMapping moved = std::move(writer);
  EXPECT_FALSE(writer.is_mapped());  // NOLINT: what a move leaves behind
  moved.data()[9] = std::byte{9};
  EXPECT_EQ(reader.data()[9], std::byte{9});
  EXPECT_EQ(reader.bytes().size(), kBytes);
}

int status_of_child(void (*touch)(std::byte*), std::byte* at) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    touch(at);
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(ShmSegment, ProtectTakesWritingAwayAndGivesItBack) {
  const UniqueFd fd = make();
  const ShmMapping mapping = ShmMapping::map(fd.get(), kBytes, ShmAccess::kReadWrite).value();
  const auto write = [](std::byte* at) { *const_cast<volatile std::byte*>(at) = std::byte{1}; };
  ASSERT_TRUE(mapping.protect(ShmAccess::kReadOnly).is_ok());
  EXPECT_NE(status_of_child(write, mapping.data()), 0);
  ASSERT_TRUE(mapping.protect(ShmAccess::kReadWrite).is_ok());
  EXPECT_EQ(status_of_child(write, mapping.data()), 0);
}

TEST(ShmSegment, U11_ExcludedMappingsAreNotInherited) {
  const UniqueFd fd = make();
  const ShmMapping mapping = ShmMapping::map(fd.get(), kBytes, ShmAccess::kReadOnly).value();
  const auto read = [](std::byte* at) { (void)*const_cast<volatile std::byte*>(at); };
  EXPECT_EQ(status_of_child(read, mapping.data()), 0);
  ASSERT_TRUE(mapping.exclude_from_fork_and_dump().is_ok());
  EXPECT_NE(status_of_child(read, mapping.data()), 0);
}

}  // namespace
}  // namespace kvtier
