#include "libkvclient/wire/shm_segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

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

std::uint64_t address_space_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
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

TEST(ShmSegment, LargeMappingsBeginAtAHugePage) {
  constexpr std::uint64_t kLarge = 2 * kHugePageBytes + 4096;
  const UniqueFd fd = std::move(shm_create("test", kLarge, {.reserve_pages = false})).value();
  std::vector<ShmMapping> mappings;
  for (int i = 0; i < 4; ++i) {
    mappings.push_back(ShmMapping::map(fd.get(), kLarge, ShmAccess::kReadWrite).value());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mappings.back().data()) % kHugePageBytes, 0U);
  }
  mappings[0].data()[kLarge - 1] = std::byte{7};
  EXPECT_EQ(mappings[3].data()[kLarge - 1], std::byte{7});
}

// The space that an alignment takes is given back whole, also when mmap refuses.
TEST(ShmSegment, NoAddressSpaceIsLeftBehind) {
  constexpr std::uint64_t kLarge = 2 * kHugePageBytes + 4096;
  const UniqueFd fd = std::move(shm_create("test", kLarge, {.reserve_pages = false})).value();
  const UniqueFd reader = std::move(shm_reopen_read_only(fd.get())).value();
  const auto map_both = [&] {
    EXPECT_TRUE(ShmMapping::map(fd.get(), kLarge, ShmAccess::kReadWrite).is_ok());
    EXPECT_FALSE(ShmMapping::map(reader.get(), kLarge, ShmAccess::kReadWrite).is_ok());
  };
  map_both();  // what the first time allocates for good
  const std::uint64_t before = address_space_bytes();
  for (int i = 0; i < 100; ++i) map_both();
  EXPECT_LT(address_space_bytes() - before, kHugePageBytes);
}

TEST(ShmSegment, HugePagesKeepTheBytesForAllMappings) {
  constexpr std::uint64_t kLarge = 2 * kHugePageBytes;
  const UniqueFd fd = std::move(shm_create("test", kLarge, {.reserve_pages = false})).value();
  const ShmMapping writer = ShmMapping::map(fd.get(), kLarge, ShmAccess::kReadWrite).value();
  const ShmMapping reader = ShmMapping::map(fd.get(), kLarge, ShmAccess::kReadOnly).value();
  for (std::uint64_t at = 0; at < kLarge; at += 3 * 4096) writer.data()[at] = std::byte{5};
  const bool has_huge_pages = writer.gather_huge_pages(0, kLarge);
  for (std::uint64_t at = 0; at < kLarge; at += 4096) {
    ASSERT_EQ(reader.data()[at], std::byte{static_cast<unsigned char>(at % (3 * 4096) == 0 ? 5 : 0)}) << at;
  }
  if (!has_huge_pages) GTEST_SKIP() << "the system gives no huge pages to shared memory: " << errno;
  EXPECT_EQ(pages_of(fd.get()), kLarge / 4096);
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
