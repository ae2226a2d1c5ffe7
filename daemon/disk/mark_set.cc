#include "daemon/disk/mark_set.h"

#include <algorithm>
#include <tuple>

namespace kvtier {
namespace {

auto target(const RecordOrder& mark) {
  return std::tie(mark.tenant.words, mark.space.words, mark.key.words);
}

bool is_same(const RecordOrder& a, const RecordOrder& b) {
  return target(a) == target(b);
}

}  // namespace

bool MarkSet::add(const RecordOrder& mark) {
  if (marks_.size() == marks_max_) {
    finish();  // copies of one mark may make room
    if (marks_.size() == marks_max_) return false;
  }
  if (marks_.empty()) marks_.reserve(marks_max_);
  marks_.push_back(mark);
  return true;
}

void MarkSet::finish() {
  std::sort(marks_.begin(), marks_.end(), [](const RecordOrder& a, const RecordOrder& b) {
    return is_same(a, b) ? a.born > b.born : target(a) < target(b);
  });
  marks_.erase(std::unique(marks_.begin(), marks_.end(), is_same), marks_.end());
}

bool MarkSet::voids(const RecordOrder& block, const Digest& space, const Key& key) const {
  RecordOrder wanted{.tenant = block.tenant, .space = space, .key = key};
  const auto found =
      std::lower_bound(marks_.begin(), marks_.end(), wanted,
                       [](const RecordOrder& a, const RecordOrder& b) { return target(a) < target(b); });
  return found != marks_.end() && is_same(*found, wanted) && is_void(*found, block);
}

bool MarkSet::voids(const RecordOrder& block) const {
  return voids(block, block.space, block.key) || voids(block, block.space, Key{}) ||
         voids(block, Digest{}, Key{});
}

void MarkSet::clear() {
  std::vector<RecordOrder>().swap(marks_);
}

}  // namespace kvtier
