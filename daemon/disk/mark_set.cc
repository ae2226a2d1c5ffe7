#include "daemon/disk/mark_set.h"

#include <algorithm>
#include <tuple>

namespace kvtier {
namespace {

// Keys and spaces that are all zero, which stand for all of them, come first.
auto target(const RecordOrder& mark) {
  return std::tie(mark.tenant.words, mark.space.words, mark.key.words);
}

bool is_before(const RecordOrder& a, const RecordOrder& b) {
  return target(a) < target(b);
}

bool is_same(const RecordOrder& a, const RecordOrder& b) {
  return target(a) == target(b);
}

// Whether `wide` is of the same thing, or of one that `mark` is inside of.
bool is_around(const RecordOrder& wide, const RecordOrder& mark) {
  if (wide.tenant != mark.tenant) return false;
  if (wide.space.is_zero()) return true;
  return wide.space == mark.space && (wide.key.is_zero() || wide.key == mark.key);
}

}  // namespace

void MarkSet::add(const RecordOrder& mark) {
  if (marks_.size() >= std::max(compact_at_, marks_max_)) {
    finish();
    compact_at_ = 2 * marks_.size();  // so that the sorting is paid for by as many that come
  }
  marks_.push_back(mark);
}

void MarkSet::finish() {
  std::sort(marks_.begin(), marks_.end(), [](const RecordOrder& a, const RecordOrder& b) {
    return is_same(a, b) ? a.born > b.born : is_before(a, b);
  });
  std::size_t kept = 0;
  RecordOrder of_namespace{};  // the last that was kept
  RecordOrder of_space{};
  for (const RecordOrder& mark : marks_) {
    const bool is_second = kept > 0 && is_same(marks_[kept - 1], mark);
    const auto is_under = [&mark](const RecordOrder& wide) {
      return wide.born >= mark.born && wide.born != 0 && is_around(wide, mark);
    };
    if (is_second || is_under(of_namespace) || is_under(of_space)) continue;
    if (mark.key.is_zero()) (mark.space.is_zero() ? of_namespace : of_space) = mark;
    marks_[kept++] = mark;
  }
  marks_.resize(kept);
  marks_.reserve(std::max(kept, marks_max_) + beside_);
}

const RecordOrder* MarkSet::find(const RecordOrder& of, const Digest& space, const Key& key) const {
  const RecordOrder wanted{.tenant = of.tenant, .space = space, .key = key};
  const auto found = std::lower_bound(marks_.begin(), marks_.end(), wanted, is_before);
  return found != marks_.end() && is_same(*found, wanted) ? &*found : nullptr;
}

MarkSet::Range MarkSet::inside(const RecordOrder& mark) const {
  const auto begin = std::lower_bound(marks_.begin(), marks_.end(), mark, is_before);
  const auto end =
      std::find_if_not(begin, marks_.end(), [&](const RecordOrder& each) { return is_around(mark, each); });
  return {static_cast<std::size_t>(begin - marks_.begin()), static_cast<std::size_t>(end - marks_.begin())};
}

bool MarkSet::admits(const RecordOrder& mark, std::size_t pending) const {
  if (marks_.size() + pending < marks_max_ || is_covered(mark)) return true;
  const Range range = inside(mark);
  return range.begin != range.end && pending < beside_;
}

void MarkSet::insert(const RecordOrder& mark) {
  if (is_covered(mark)) return;
  const Range range = inside(mark);
  const auto begin = marks_.begin() + static_cast<std::ptrdiff_t>(range.begin);
  // Later ones that are inside stay: they void what this one does not.
  const auto end = std::remove_if(begin, marks_.begin() + static_cast<std::ptrdiff_t>(range.end),
                                  [&](const RecordOrder& each) { return each.born <= mark.born; });
  marks_.erase(end, marks_.begin() + static_cast<std::ptrdiff_t>(range.end));
  marks_.insert(marks_.begin() + static_cast<std::ptrdiff_t>(range.begin), mark);
}

void MarkSet::remove(const RecordOrder& mark) {
  const RecordOrder* found = find(mark, mark.space, mark.key);
  if (found != nullptr && found->born <= mark.born) marks_.erase(marks_.begin() + (found - marks_.data()));
}

bool MarkSet::is_covered(const RecordOrder& mark) const {
  for (const RecordOrder* wide :
       {find(mark, mark.space, mark.key), find(mark, mark.space, Key{}), find(mark, Digest{}, Key{})}) {
    if (wide != nullptr && wide->born > mark.born) return true;
  }
  return false;
}

bool MarkSet::voids(const RecordOrder& block) const {
  for (const RecordOrder* mark :
       {find(block, block.space, block.key), find(block, block.space, Key{}), find(block, Digest{}, Key{})}) {
    if (mark != nullptr && is_void(*mark, block)) return true;
  }
  return false;
}

}  // namespace kvtier
