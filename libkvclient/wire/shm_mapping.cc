// Mappings of segments: the adapter of Boost.Interprocess.

#include <linux/mman.h>  // MADV_COLLAPSE, which glibc 2.36 does not know
#include <sys/mman.h>

#include <atomic>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <utility>

#include "libkvclient/base/units.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier {
namespace {

namespace bip = boost::interprocess;

// What mapped_region wants of a memory object: a descriptor and a mode.
class DescriptorMemory {
 public:
  explicit DescriptorMemory(int fd) : fd_(fd) {}
  [[nodiscard]] bip::mapping_handle_t get_mapping_handle() const { return {fd_, false}; }

 private:
  int fd_;
};

// An address that is a multiple of kHugePageBytes with room for `bytes` behind it, free just now. Null: there is none.
void* aligned_address(std::uint64_t bytes) {
  void* space =
      ::mmap(nullptr, bytes + kHugePageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) return nullptr;
  ::munmap(space, bytes + kHugePageBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(space);
  return static_cast<std::byte*>(space) + (round_up(address, kHugePageBytes) - address);
}

bip::mapped_region map_region(int fd, bip::mode_t mode, std::uint64_t bytes) {
  void* const address = bytes >= kHugePageBytes ? aligned_address(bytes) : nullptr;
  if (address == nullptr) return {DescriptorMemory(fd), mode, 0, bytes};
  try {
    return {DescriptorMemory(fd), mode, 0, bytes, address};
  } catch (const bip::interprocess_exception& error) {
    // Another thread's mmap came in between. Never MAP_FIXED, which would put ours in place of that one.
    if (error.get_error_code() != bip::busy_error) throw;
    return {DescriptorMemory(fd), mode, 0, bytes};
  }
}

}  // namespace

struct ShmMapping::Region {
  bip::mapped_region mapping;
};

ShmMapping::ShmMapping() = default;
ShmMapping::ShmMapping(ShmMapping&& other) noexcept
    : region_(std::move(other.region_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}
ShmMapping& ShmMapping::operator=(ShmMapping&& other) noexcept {
  region_ = std::move(other.region_);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}
ShmMapping::~ShmMapping() = default;

Result<ShmMapping> ShmMapping::map(int fd, std::uint64_t bytes, ShmAccess access) {
  const bip::mode_t mode = access == ShmAccess::kReadOnly ? bip::read_only : bip::read_write;
  try {
    ShmMapping result;
    result.region_ = std::make_unique<Region>(Region{map_region(fd, mode, bytes)});
    result.data_ = static_cast<std::byte*>(result.region_->mapping.get_address());
    result.size_ = bytes;
    return result;
  } catch (const bip::interprocess_exception& error) {
    return Status::from_errno("mmap of " + format_size(bytes), error.get_native_error());
  }
}

Status ShmMapping::exclude_from_fork_and_dump() const {
  if (::madvise(data_, size_, MADV_DONTFORK) != 0) return Status::from_errno("madvise(MADV_DONTFORK)", errno);
  if (::madvise(data_, size_, MADV_DONTDUMP) != 0) return Status::from_errno("madvise(MADV_DONTDUMP)", errno);
  return Status::ok();
}

bool ShmMapping::gather_huge_pages(std::uint64_t offset, std::uint64_t bytes) const {
  // A range without any page is refused.
  for (std::uint64_t at = offset; at < offset + bytes; at += kHugePageBytes) {
    auto& word = *reinterpret_cast<std::atomic<std::uint64_t>*>(data_ + at);
    word.fetch_or(0, std::memory_order_relaxed);  // a write that changes nothing, beside whoever writes there
  }
  return ::madvise(data_ + offset, bytes, MADV_COLLAPSE) == 0;
}

Status ShmMapping::protect(ShmAccess access) const {
  const int flags = access == ShmAccess::kReadOnly ? PROT_READ : PROT_READ | PROT_WRITE;
  if (::mprotect(data_, size_, flags) != 0) return Status::from_errno("mprotect", errno);
  return Status::ok();
}

}  // namespace kvtier
