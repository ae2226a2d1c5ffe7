#pragma once
// Blocks that are there and ghosts, in a list a cell of the reuse model, oldest first: each moves on to the next cell as
// it ages, and the model counts it. A block has the place of its BlockId; ghosts have places behind those. O(1) a call.

#include <vector>

#include "daemon/policy/reuse_entry.h"

namespace kvtier {

class Ages {
 public:
  using Place = std::uint32_t;
  using Cell = ReuseModel::Cell;
  static constexpr Place kNone = 0xffffffff;

  /// Of blocks that are there the entries are shared with other classes.
  Ages(const ReuseEntries& blocks, std::uint32_t ghosts_max);

  [[nodiscard]] ReuseEntry& operator[](Place place) const {
    return place < blocks_->count() ? (*blocks_)[place] : ghosts_[place - blocks_->count()];
  }
  [[nodiscard]] Place place_of_ghost(std::uint32_t ghost) const { return blocks_->count() + ghost; }

  /// The entry's traits and time are set: it is the youngest of its class.
  void enter(Place place);
  void leave(Place place);
  /// `to`, which is not listed, becomes what `from` is, in its place in the list; `from` is not listed any more.
  void move(Place from, Place to);

  /// The next one that is past its cell's end, looked for in a few cells from where the last call ended: kNone when
  /// that is nobody. A round through all cells begins at most every kRoundMs.
  Place find_aged(WrappingMs now_ms, const ReuseModel& model);
  /// To the next cell, of which it is the youngest.
  void age(Place place);

 private:
  static constexpr WrappingMs kRoundMs = 250;

  struct List {
    Place oldest = kNone;
    Place youngest = kNone;
  };

  void push(Place place, Cell cell);
  void unlink(Place place);

  const ReuseEntries* blocks_;
  ReuseEntries ghosts_;
  std::vector<List> lists_;                  // by cell
  std::uint32_t next_ = ReuseModel::kCells;  // the cell to look at; kCells: between two rounds
  WrappingMs round_ms_ = 0;
};

}  // namespace kvtier
