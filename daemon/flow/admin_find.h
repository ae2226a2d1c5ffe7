#pragma once
// Blocks by their key or by its first digits.

#include <string_view>

#include "daemon/flow/state.h"

namespace kvtier {

/// The first hex digits of a key, or all 64.
class KeyPrefix {
 public:
  /// Anything but 4 to 64 hex digits matches nothing.
  explicit KeyPrefix(std::string_view hex);
  [[nodiscard]] bool matches(const Key& key) const;
  [[nodiscard]] bool is_whole() const { return digits_ == 2 * sizeof(Key); }
  [[nodiscard]] const Key& key() const { return key_; }

 private:
  Key key_{};
  std::size_t digits_ = 0;  ///< 0: matches nothing
};

/// The next block from `position` on, which moves behind it: the number of a record, or, for a whole key, of
/// a namespace and space. Every look costs 1 of `budget`. kNone: the budget is used up, or there is none.
BlockId admin_find_next(StoreState& state, const KeyPrefix& prefix, std::uint64_t& position,
                        std::int64_t& budget);
/// Whether there is anything behind `position`.
bool admin_find_is_over(const StoreState& state, const KeyPrefix& prefix, std::uint64_t position);

}  // namespace kvtier
