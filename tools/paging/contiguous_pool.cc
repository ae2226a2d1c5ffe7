#include "tools/paging/contiguous_pool.h"

#include <algorithm>
#include <iterator>

#include "libkvclient/base/check.h"

namespace kvtier::sim {

std::optional<std::uint64_t> ContiguousPool::allocate(std::uint64_t tokens) {
  const auto hole = std::ranges::find_if(holes_, [&](const auto& each) { return each.second >= tokens; });
  if (hole == holes_.end()) return std::nullopt;
  const auto [begin, size] = *hole;
  holes_.erase(hole);
  if (size > tokens) holes_[begin + tokens] = size - tokens;
  free_ -= tokens;
  return begin;
}

void ContiguousPool::free(std::uint64_t begin, std::uint64_t tokens) {
  free_ += tokens;
  const auto behind = holes_.lower_bound(begin);
  KV_CHECK(behind == holes_.end() || begin + tokens <= behind->first, "a piece is freed that is free");
  if (behind != holes_.end() && behind->first == begin + tokens) {
    tokens += behind->second;
    holes_.erase(behind);
  }
  const auto next = holes_.lower_bound(begin);
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    KV_CHECK(before->first + before->second <= begin, "a piece is freed that is free");
    if (before->first + before->second == begin) {
      before->second += tokens;
      return;
    }
  }
  holes_[begin] = tokens;
}

std::uint64_t ContiguousPool::largest_hole() const {
  std::uint64_t largest = 0;
  for (const auto& [begin, tokens] : holes_) largest = std::max(largest, tokens);
  return largest;
}

}  // namespace kvtier::sim
