#pragma once
// Memory that is taken where none must be: found with a backtrace. A program that links this has its
// own malloc in front of the C library's, so that operator new, the C library and other libraries are seen
// alike. Not beside sanitizers, which do the same.

#include <cstddef>
#include <cstdint>

namespace kvtier::test {

/// While one lives on a thread, each allocation of that thread is counted, or of all threads, and the first from each
/// place is written to stderr with its backtrace. Scopes do not nest, and only one watches all threads at a time.
class AllocationTrap {
 public:
  enum class Watch : std::uint8_t { kThisThread, kAllThreads };

  explicit AllocationTrap(Watch watch = Watch::kThisThread);
  ~AllocationTrap();
  AllocationTrap(const AllocationTrap&) = delete;
  AllocationTrap& operator=(const AllocationTrap&) = delete;

  /// Of all traps since the program began.
  static std::size_t caught_count();

 private:
  const Watch watch_;
};

}  // namespace kvtier::test
