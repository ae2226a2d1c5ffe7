#pragma once
// The prefix tree as lines: nodes come depth first, and each knows its level and how many branches follow.

#include <cstdint>
#include <string>
#include <vector>

namespace kvtier::ctl {

class TreeDrawing {
 public:
  /// The strokes in front of the next node.
  std::string strokes(std::uint32_t level, std::uint32_t branches);

 private:
  std::vector<std::uint32_t> left_;  ///< by level: branches of the node above that are still to come
};

}  // namespace kvtier::ctl
