#include "tools/kvctl/tree_drawing.h"

#include <algorithm>

namespace kvtier::ctl {
namespace {

constexpr std::size_t kLevelsDrawn = 24;  // deeper ones only say how deep: lines stay readable

}  // namespace

std::string TreeDrawing::strokes(std::uint32_t level, std::uint32_t branches) {
  left_.resize(level);
  if (level > 0 && left_.back() > 0) --left_.back();
  std::string out;
  const std::size_t first = level > kLevelsDrawn ? level - kLevelsDrawn : 0;
  if (first > 0) out = "(" + std::to_string(first) + ") ";
  for (std::size_t i = first; i < left_.size(); ++i) {
    const bool is_own = i + 1 == left_.size();
    if (is_own) out += left_[i] > 0 ? "├─ " : "└─ ";
    if (!is_own) out += left_[i] > 0 ? "│  " : "   ";
  }
  left_.push_back(branches);
  return out;
}

}  // namespace kvtier::ctl
