#include "libkvclient/src/arena.h"

#include <algorithm>

#include "libkvclient/base/check.h"

namespace kvtier::client {

std::optional<std::uint64_t> Arena::take(std::uint64_t bytes) {
  const std::size_t pages = round_up(bytes, kPageBytes) / kPageBytes;
  const auto begin =
      std::search_n(is_used_.begin(), is_used_.end(), static_cast<std::ptrdiff_t>(pages), false);
  if (begin == is_used_.end()) return std::nullopt;
  std::fill_n(begin, pages, true);
  used_pages_ += pages;
  return static_cast<std::uint64_t>(begin - is_used_.begin()) * kPageBytes;
}

void Arena::give_back(std::uint64_t offset, std::uint64_t bytes) {
  const std::size_t pages = round_up(bytes, kPageBytes) / kPageBytes;
  const std::size_t first = offset / kPageBytes;
  KV_CHECK(first + pages <= kPages && is_used_[first], "an arena range that was taken");
  std::fill_n(is_used_.begin() + static_cast<std::ptrdiff_t>(first), pages, false);
  used_pages_ -= pages;
}

}  // namespace kvtier::client
