#pragma once
// Token places one behind the other, given out in one piece: the first hole that is large enough.

#include <cstdint>
#include <map>
#include <optional>

namespace kvtier::sim {

class ContiguousPool {
 public:
  explicit ContiguousPool(std::uint64_t tokens) : free_(tokens) {
    if (tokens > 0) holes_[0] = tokens;
  }

  /// Where the piece begins. No value: no hole is large enough.
  std::optional<std::uint64_t> allocate(std::uint64_t tokens);
  /// A whole piece.
  void free(std::uint64_t begin, std::uint64_t tokens);

  [[nodiscard]] std::uint64_t free_tokens() const { return free_; }
  [[nodiscard]] std::uint64_t largest_hole() const;

 private:
  std::map<std::uint64_t, std::uint64_t> holes_;  // tokens by begin; no two of them touch
  std::uint64_t free_;
};

}  // namespace kvtier::sim
