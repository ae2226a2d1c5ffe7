#include "libkvclient/wire/shm_segment.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status no_pages(std::uint64_t bytes, int error_number) {
  if (error_number == ENOMEM || error_number == ENOSPC) {
    return {Code::kNoSpace, "cannot reserve " + format_size(bytes) + " of shared memory"};
  }
  return Status::from_errno("fallocate", error_number);
}

}  // namespace

Result<UniqueFd> shm_create(const char* name, std::uint64_t bytes, const ShmOptions& options) {
  if (KV_FAULT("shm.create") == Fault::kFail) return Status(Code::kNoSpace, "fault point shm.create");
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | (options.use_huge_pages ? MFD_HUGETLB : 0U);
  UniqueFd fd(::memfd_create(name, flags));
  if (!fd.is_open()) return Status::from_errno("memfd_create", errno);
  if (::fchmod(fd.get(), 0600) != 0) return Status::from_errno("fchmod", errno);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return Status::from_errno("ftruncate", errno);
  if (options.reserve_pages) KV_RETURN_IF_ERROR(shm_reserve(fd.get(), 0, bytes));
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return Status::from_errno("fcntl(F_ADD_SEALS)", errno);
  return fd;
}

Status shm_reserve(int fd, std::uint64_t offset, std::uint64_t bytes) {
  int result = 0;
  do {
    result = ::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status::ok() : no_pages(bytes, errno);
}

Status shm_punch(int fd, std::uint64_t offset, std::uint64_t bytes) {
  const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd, mode, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return Status::ok();
  return Status::from_errno("fallocate(PUNCH_HOLE)", errno);
}

Result<UniqueFd> shm_reopen_read_only(int fd) {
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  UniqueFd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reader.is_open()) return Status::from_errno("open(" + path + ")", errno);
  return reader;
}

Result<std::uint64_t> shm_verify(int fd, std::uint64_t bytes_expected) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Status::from_errno("fstat", errno);
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes != bytes_expected) {
    return Status(Code::kInvalid, "a segment has " + std::to_string(bytes) + " bytes where " +
                                      std::to_string(bytes_expected) + " were announced");
  }
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return Status(Code::kInvalid, "a segment is not sealed against resizing");
  return bytes;
}

}  // namespace kvtier
