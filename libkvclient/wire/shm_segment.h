#pragma once
// Shared memory: a memfd sealed against resizing, and mappings of it. shm_mapping.cc is the only user of
// Boost.Interprocess (mapped_region); no Boost mutex, managed segment or name in /dev/shm is used anywhere.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

inline constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;

enum class ShmAccess : std::uint8_t { kReadOnly, kReadWrite };

struct ShmOptions {
  bool use_huge_pages = false;
  bool reserve_pages = true;  ///< allocate every page now: a later SIGBUS for want of memory is impossible
};

/// Creates a sealed (F_SEAL_SHRINK | GROW | SEAL) memfd of mode 0600. `name` shows in /proc for people only.
/// kNoSpace when the pages are not there, with the numbers.
Result<UniqueFd> shm_create(const char* name, std::uint64_t bytes, const ShmOptions& options);

/// Reserves the pages of a range of a segment that was created without. kNoSpace as above.
Status shm_reserve(int fd, std::uint64_t offset, std::uint64_t bytes);
/// Gives the pages of a range back; they read as zero afterwards.
Status shm_punch(int fd, std::uint64_t offset, std::uint64_t bytes);
/// A second descriptor of the same memory that allows reading only.
Result<UniqueFd> shm_reopen_read_only(int fd);
/// Size of the segment, and that it is sealed as ours are: what a receiver checks before it maps.
Result<std::uint64_t> shm_verify(int fd, std::uint64_t bytes_expected);

/// A mapping of a whole segment. Movable; unmaps at the end of its life.
class ShmMapping {
 public:
  ShmMapping();
  ShmMapping(ShmMapping&&) noexcept;
  ShmMapping& operator=(ShmMapping&&) noexcept;
  ~ShmMapping();

  /// One of at least kHugePageBytes begins at a multiple of it, so that huge pages can be mapped as such; not always
  /// beside other threads' mmaps.
  static Result<ShmMapping> map(int fd, std::uint64_t bytes, ShmAccess access);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] bool is_mapped() const { return data_ != nullptr; }

  /// For clients: not inherited by fork, not in core dumps.
  Status exclude_from_fork_and_dump() const;
  /// Asks for huge pages in [offset, offset + bytes), both multiples of kHugePageBytes: the pages that are there
  /// are copied together, the others zero, for all mappings of the segment. About a millisecond a huge page; a
  /// reader of the range waits. False: the system has none to give, and the small pages stay.
  [[nodiscard]] bool gather_huge_pages(std::uint64_t offset, std::uint64_t bytes) const;
  /// Changes the access of the whole mapping (a slab lent for writing, or taken back).
  Status protect(ShmAccess access) const;

 private:
  struct Region;
  std::unique_ptr<Region> region_;
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace kvtier
