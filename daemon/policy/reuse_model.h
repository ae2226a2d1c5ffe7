#pragma once
// What is learned of when blocks come back. Blocks that look alike are a class: how often they were used, how deep in
// their prompt they stand, and after which time they, or the prompt above them, were last used again. Each class counts,
// for each age since the last use, how many blocks got so old and how many were used again then. A class at an age is a
// cell.
//
// From that follows the worth of a cell, a Gittins index (Gittins 1979): the uses expected for each unit of time that a
// block is kept, for the time that is best. Cells in order of their worth are the order of eviction.

#include <array>
#include <cstdint>
#include <vector>

#include "daemon/policy/use_hint.h"

namespace kvtier {

/// Milliseconds of the monotonic clock, as in BlockRecord::access_ms; they wrap.
using WrappingMs = std::uint32_t;

/// What a class is made of.
struct ReuseTraits {
  WrappingMs gap_ms = 0;  ///< between the last two uses of it or, until it has two, of what it continues
  std::uint8_t uses = 0;  ///< beyond the first; stops at 255, as depth does
  std::uint8_t depth = 0;
  bool has_gap = false;
  UseHint hint = UseHint::kNone;
};

/// Counts that stop at the largest.
inline std::uint8_t one_more(std::uint8_t count) {
  return static_cast<std::uint8_t>(count + (count < 0xff ? 1 : 0));
}

class ReuseModel {
 public:
  using Cell = std::uint16_t;
  static constexpr std::uint32_t kGaps = 12;
  static constexpr std::uint32_t kPlainClasses = 3 * 4 * kGaps;  ///< uses, depth, gap
  static constexpr std::uint32_t kClasses = kPlainClasses + kUseHints * kGaps;
  static constexpr std::uint32_t kAges = 32;
  static constexpr std::uint32_t kCells = kClasses * kAges;

  /// Of its arrays.
  static constexpr std::uint64_t kBytes = std::uint64_t{kCells} * (16 + 8 + 8 + 2 + 2);

  ReuseModel();

  /// At age 0.
  static Cell cell_of(const ReuseTraits& traits);
  static bool is_oldest(Cell cell) { return cell % kAges == kAges - 1; }
  /// The age at which a block leaves `cell` for the next one.
  [[nodiscard]] WrappingMs age_end(Cell cell) const { return age_ends_[cell % kAges]; }

  void got_to(Cell cell);
  /// It did not, after all: a hint came.
  void take_back(Cell cell);
  /// A block was used again.
  void used_again(Cell cell);
  /// When enough is new: the worths of some classes, after the last of them a new order, and a little of what is old
  /// forgotten. Some microseconds, a fifth of a millisecond at the end. True: the order is a new one.
  bool learn_some();
  /// All of that at once, whether it is due or not.
  void learn();

  /// Cells by rank, the least worth first.
  [[nodiscard]] Cell cell_at(std::uint32_t rank) const { return by_rank_[rank]; }
  [[nodiscard]] std::uint32_t rank_of(Cell cell) const { return ranks_[cell]; }

 private:
  struct Count {
    double got_to = 0;
    double used_again = 0;
  };

  void weigh(std::uint32_t class_index);
  void end_lesson();
  void rank();
  void fade();
  [[nodiscard]] double hazard(std::uint32_t class_index, std::uint32_t age) const;

  std::array<WrappingMs, kAges> age_ends_;
  std::vector<Count> counts_;               // by cell
  std::array<Count, kAges> counts_of_all_;  // classes together
  std::vector<double> worths_;              // by cell
  std::vector<std::uint64_t> order_;        // worths, ages and cells, sorted
  std::vector<Cell> by_rank_;
  std::vector<std::uint16_t> ranks_;  // by cell
  std::uint32_t events_ = 0;          // since the last lesson
  std::uint32_t events_due_;
  std::uint32_t next_class_ = 0;  // of the lesson that is under way
};

}  // namespace kvtier
