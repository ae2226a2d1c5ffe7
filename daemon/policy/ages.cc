#include "daemon/policy/ages.h"

#include <algorithm>

namespace kvtier {
namespace {

constexpr std::uint32_t kCellsALook = 1024;

}  // namespace

Ages::Ages(const ReuseEntries& blocks, std::uint32_t ghosts_max)
    : blocks_(&blocks), ghosts_(ghosts_max), lists_(ReuseModel::kCells) {}

void Ages::push(Place place, Cell cell) {
  ReuseEntry& entry = (*this)[place];
  List& list = lists_[cell];
  entry.cell = cell;
  entry.older = list.youngest;
  entry.younger = kNone;
  (list.youngest == kNone ? list.oldest : (*this)[list.youngest].younger) = place;
  list.youngest = place;
}

void Ages::unlink(Place place) {
  const ReuseEntry& entry = (*this)[place];
  List& list = lists_[entry.cell];
  (entry.older == kNone ? list.oldest : (*this)[entry.older].younger) = entry.younger;
  (entry.younger == kNone ? list.youngest : (*this)[entry.younger].older) = entry.older;
}

void Ages::enter(Place place) {
  push(place, ReuseModel::cell_of((*this)[place].traits));
  (*this)[place].set_known(true);
}

void Ages::leave(Place place) {
  if (!(*this)[place].is_known()) return;
  unlink(place);
  (*this)[place].set_known(false);
}

void Ages::move(Place from, Place to) {
  ReuseEntry& entry = (*this)[to];
  entry = (*this)[from];
  List& list = lists_[entry.cell];
  (entry.older == kNone ? list.oldest : (*this)[entry.older].younger) = to;
  (entry.younger == kNone ? list.youngest : (*this)[entry.younger].older) = to;
  (*this)[from].set_known(false);
}

Ages::Place Ages::find_aged(WrappingMs now_ms, const ReuseModel& model) {
  if (next_ == ReuseModel::kCells) {
    if (now_ms - round_ms_ < kRoundMs) return kNone;
    round_ms_ = now_ms;
    next_ = 0;
  }
  const std::uint32_t end = std::min(next_ + kCellsALook, ReuseModel::kCells);
  for (; next_ < end; ++next_) {
    const auto cell = static_cast<Cell>(next_);
    const Place oldest = lists_[cell].oldest;
    if (oldest == kNone || ReuseModel::is_oldest(cell)) continue;
    const WrappingMs age_ms = now_ms - (*this)[oldest].used_ms;
    if (age_ms >= model.age_end(cell) && age_ms < (1U << 31))
      return oldest;  // beyond that: used after `now_ms`
  }
  return kNone;
}

void Ages::age(Place place) {
  const auto next = static_cast<Cell>((*this)[place].cell + 1);
  unlink(place);
  push(place, next);
}

}  // namespace kvtier
