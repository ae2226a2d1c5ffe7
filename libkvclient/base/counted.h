#pragma once
// "1 block", "2 blocks": numbers with their noun, for people.

#include <cstdint>
#include <string>
#include <string_view>

namespace kvtier {

/// `many` is for nouns that more than an s makes plural: counted(n, "child", "children").
inline std::string counted(std::uint64_t n, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(n) + " ";
  if (n == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace kvtier
