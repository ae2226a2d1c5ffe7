#include "daemon/disk/segment_table.h"

#include <algorithm>
#include <limits>

#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

// Less of a segment than this makes no difference: one block that died would put a young one before all that are old and
// full, and what lives in it is dropped, as a rule, not moved.
constexpr double kDeadPartMin = 16;

}  // namespace

void SegmentTable::set_state(std::uint32_t segment, SegmentState to) {
  SegmentRow& row = rows_[segment];
  KV_CHECK(is_legal_transition(row.state, to), "a segment changes its state as the table says");
  --counts_[static_cast<std::size_t>(row.state)];
  ++counts_[static_cast<std::size_t>(to)];
  row.state = to;
}

void SegmentTable::open(std::uint32_t segment, std::uint64_t generation, std::uint64_t epoch) {
  set_state(segment, SegmentState::kOpen);
  rows_[segment] = {.generation = generation, .epoch = epoch, .state = SegmentState::kOpen, .is_ours = true};
}

void SegmentTable::free(std::uint32_t segment) {
  SegmentRow& row = rows_[segment];
  KV_CHECK(row.users == 0, "nobody reads or writes a segment that is freed");
  set_state(segment, SegmentState::kFree);
  live_bytes_ -= row.live_bytes;
  live_count_ -= row.live_count;
  row = {};
}

std::optional<std::uint32_t> SegmentTable::pick_free() const {
  if (count(SegmentState::kFree) == 0) return std::nullopt;
  const auto found = std::find_if(rows_.begin(), rows_.end(),
                                  [](const SegmentRow& row) { return row.state == SegmentState::kFree; });
  return static_cast<std::uint32_t>(found - rows_.begin());
}

bool SegmentTable::may_be_victim(const SegmentRow& row) const {
  if (row.state != SegmentState::kSealed) return false;
  if (row.is_void) return true;
  // Without a list of what is in it: only where it is known that nothing of use is.
  if (row.index_bytes == 0) return row.is_ours && row.live_count == 0 && row.marks == 0;
  // What was not told looks dead, and comes back with the next start.
  if (row.is_withheld && count(SegmentState::kFree) > 1) return false;
  return row.marks == 0 || count(SegmentState::kFree) > 0;
}

std::uint64_t SegmentTable::newest_generation() const {
  std::uint64_t newest = 0;
  for (const SegmentRow& row : rows_) newest = std::max(newest, row.generation);
  return newest;
}

bool SegmentTable::has_victim() const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const SegmentRow& row) { return may_be_victim(row); });
}

std::optional<std::uint32_t> SegmentTable::pick_victim() const {
  const std::optional<std::uint32_t> told = pick_victim(false);
  return told.has_value() ? told : pick_victim(true);
}

std::optional<std::uint32_t> SegmentTable::pick_victim(bool is_withheld) const {
  const std::uint64_t newest = newest_generation();
  const auto benefit_to_cost = [&](const SegmentRow& row) {
    if (row.live_count == 0) return std::numeric_limits<double>::infinity();
    const auto live = static_cast<double>(row.live_bytes);
    const auto stored = static_cast<double>(row.stored_bytes);
    const double dead = std::max(stored - live, stored / kDeadPartMin);
    return dead * static_cast<double>(newest - row.generation + 1) / (stored + live);
  };
  std::optional<std::uint32_t> best;
  double best_ratio = 0;
  for (std::uint32_t i = 0; i < count(); ++i) {
    const SegmentRow& row = rows_[i];
    if (row.is_withheld != is_withheld || !may_be_victim(row)) continue;
    const double ratio = benefit_to_cost(row);
    const bool is_older = best.has_value() && row.generation < rows_[*best].generation;
    if (best.has_value() && (ratio < best_ratio || (ratio == best_ratio && !is_older))) continue;
    best = i;
    best_ratio = ratio;
  }
  return best;
}

bool SegmentTable::is_current(const DiskLocator& locator) const {
  if (locator.segment >= count()) return false;
  const SegmentRow& row = rows_[locator.segment];
  return row.state != SegmentState::kFree && row.state != SegmentState::kErasing &&
         row.generation == locator.generation() && row.epoch == locator.epoch();
}

void SegmentTable::count_live(const DiskLocator& locator) {
  SegmentRow& row = rows_[locator.segment];
  row.live_bytes += disk_bytes(locator);
  row.stored_bytes += disk_bytes(locator);
  ++row.live_count;
  live_bytes_ += disk_bytes(locator);
  ++live_count_;
}

void SegmentTable::forget(const DiskLocator& locator) {
  SegmentRow& row = rows_[locator.segment];
  KV_CHECK(row.live_count > 0 && row.live_bytes >= disk_bytes(locator), "a locator is forgotten once");
  row.live_bytes -= disk_bytes(locator);
  --row.live_count;
  live_bytes_ -= disk_bytes(locator);
  --live_count_;
}

std::uint64_t SegmentTable::born_min_beside(std::uint32_t segment) const {
  std::uint64_t born = kNobodyBorn;
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (i != segment && rows_[i].state != SegmentState::kFree) born = std::min(born, rows_[i].born_min);
  }
  return born;
}

std::uint64_t SegmentTable::marks() const {
  std::uint64_t marks = 0;
  for (const SegmentRow& row : rows_) marks += row.marks;
  return marks;
}

}  // namespace kvtier
