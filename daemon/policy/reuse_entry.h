#pragma once
// What the reuse evictors of a store know of each block that is there: one array for all of them, as a block is in one
// class. Its pages come as blocks do. Thread: the conductor.

#include <cstdint>

#include "daemon/policy/reuse_model.h"
#include "daemon/policy/zeroed.h"

namespace kvtier {

/// Of a block that is there, or of a ghost.
struct ReuseEntry {
  ReuseTraits traits;
  WrappingMs used_ms;   ///< the last use, or hint
  std::uint32_t older;  ///< of its cell, as a place (ages.h)
  std::uint32_t younger;
  ReuseModel::Cell cell;
  std::uint16_t bits;

  /// On its way through the ages.
  [[nodiscard]] bool is_known() const { return (bits & kKnown) != 0; }
  void set_known(bool is_known) {
    bits = static_cast<std::uint16_t>((bits & ~kKnown) | (is_known ? kKnown : 0));
  }
  /// Of candidates (reuse_evictor.h); 0: none.
  [[nodiscard]] std::uint16_t list() const { return bits & kList; }
  void set_list(std::uint16_t list) { bits = static_cast<std::uint16_t>((bits & kKnown) | list); }

 private:
  static constexpr std::uint16_t kKnown = 0x8000;
  static constexpr std::uint16_t kList = 0x7fff;
};
static_assert(sizeof(ReuseEntry) == 24);

class ReuseEntries {
 public:
  explicit ReuseEntries(std::uint32_t count) : entries_(make_zeroed<ReuseEntry>(count)), count_(count) {}
  [[nodiscard]] ReuseEntry& operator[](std::uint32_t place) const { return entries_[place]; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  Zeroed<ReuseEntry> entries_;
  std::uint32_t count_;
};

}  // namespace kvtier
