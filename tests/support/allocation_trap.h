#pragma once
// Memory that a thread takes where it must take none: found with a backtrace. A program that links this has its
// own malloc in front of the C library's, so that operator new, the C library and other libraries are seen
// alike. Not beside sanitizers, which do the same.

#include <cstddef>

namespace kvtier::test {

/// While one lives on a thread, each allocation of that thread is counted, and the first from each place is
/// written to stderr with its backtrace. Scopes do not nest.
class AllocationTrap {
 public:
  AllocationTrap();
  ~AllocationTrap();
  AllocationTrap(const AllocationTrap&) = delete;
  AllocationTrap& operator=(const AllocationTrap&) = delete;

  /// Of all threads since the program began.
  static std::size_t caught_count();
};

}  // namespace kvtier::test
