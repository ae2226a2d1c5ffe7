#pragma once
// The segments of a path: what each is used for, how much of it lives, and who still needs it. In memory alone; built
// anew at each start. Thread: the store's. Nothing is allocated after construction.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "daemon/disk/disk_types.h"

namespace kvtier {

enum class SegmentState : std::uint8_t {
  kFree = 0,        ///< first and last unit are zeros on disk
  kOpen = 1,        ///< takes records
  kSealing = 2,     ///< its footer is being written
  kSealed = 3,      ///< only read
  kReclaiming = 4,  ///< what lives is moved out of it; reads go on
  kErasing = 5,     ///< its first and last unit are being zeroed; locators into it are stale
};
inline constexpr std::size_t kSegmentStateCount = 6;

/// The only changes of state there are; recovery finds segments kSealed or kOpen.
constexpr bool is_legal_transition(SegmentState from, SegmentState to) {
  using S = SegmentState;
  switch (from) {
    case S::kFree:
      return to == S::kOpen || to == S::kSealed;
    case S::kOpen:
      return to == S::kSealing || to == S::kSealed;
    case S::kSealing:
      return to == S::kSealed;
    case S::kSealed:
      return to == S::kReclaiming || to == S::kSealing;
    case S::kReclaiming:
      return to == S::kErasing || to == S::kSealed;
    case S::kErasing:
      return to == S::kFree || to == S::kSealed;
  }
  return false;
}

inline constexpr std::uint64_t kNobodyBorn = ~std::uint64_t{0};

struct SegmentRow {
  std::uint64_t generation = 0;
  std::uint64_t epoch = 0;
  std::uint64_t live_bytes = 0;    ///< of locators that are handed out and not forgotten
  std::uint64_t stored_bytes = 0;  ///< of all that were, forgotten ones included: padding would pass for dead
  std::uint64_t born_min = kNobodyBorn;  ///< of its blocks, dead ones included
  std::uint32_t live_count = 0;
  std::uint32_t users = 0;  ///< reads and late writes under way: it is not erased under them
  std::uint32_t marks = 0;
  std::uint32_t index_bytes = 0;  ///< of its footer; 0: it has none
  SegmentState state = SegmentState::kFree;
  /// Nothing in it is of use: dropped by recovery, or its header was never written. Erased without a look.
  bool is_void = false;
  bool is_withheld = false;  ///< has blocks that were not told: reclaimed only where there is no other
  bool is_ours = false;  ///< opened in this life: each of its blocks was told, each of its marks is counted
};

class SegmentTable {
 public:
  SegmentTable() = default;
  explicit SegmentTable(std::uint32_t count) : rows_(count) { counts_[0] = count; }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(rows_.size()); }
  [[nodiscard]] std::uint32_t count(SegmentState state) const {
    return counts_[static_cast<std::size_t>(state)];
  }
  SegmentRow& operator[](std::uint32_t segment) { return rows_[segment]; }
  const SegmentRow& operator[](std::uint32_t segment) const { return rows_[segment]; }

  void set_state(std::uint32_t segment, SegmentState to);
  /// A free one becomes open, with this use.
  void open(std::uint32_t segment, std::uint64_t generation, std::uint64_t epoch);
  /// Erased, and that is durable.
  void free(std::uint32_t segment);

  /// The free one of the lowest number.
  [[nodiscard]] std::optional<std::uint32_t> pick_free() const;
  /// The sealed one where most is gained for what it costs: (1 - u) * age / (1 + u), with u what lives of what was stored
  /// there and age the segments opened since (Rosenblum and Ousterhout 1992, 3.6). Where nothing lives there is no cost: it
  /// goes first. Where less than a sixteenth is dead age alone counts; of equals the oldest. Those without a footer wait for the next start. While no
  /// segment is free only those without marks: blocks may be dropped, marks have to be moved.
  [[nodiscard]] std::optional<std::uint32_t> pick_victim() const;
  /// Whether there is one.
  [[nodiscard]] bool has_victim() const;

  /// Whether the locator's use of the segment is the present one, and may be read.
  [[nodiscard]] bool is_current(const DiskLocator& locator) const;
  void count_live(const DiskLocator& locator);
  /// Of a current locator.
  void forget(const DiskLocator& locator);

  [[nodiscard]] std::uint64_t live_bytes() const { return live_bytes_; }
  [[nodiscard]] std::uint64_t live_count() const { return live_count_; }
  /// Of all segments but one.
  [[nodiscard]] std::uint64_t born_min_beside(std::uint32_t segment) const;
  [[nodiscard]] std::uint64_t marks() const;

 private:
  [[nodiscard]] bool may_be_victim(const SegmentRow& row) const;
  [[nodiscard]] std::optional<std::uint32_t> pick_victim(bool is_withheld) const;
  [[nodiscard]] std::uint64_t newest_generation() const;

  std::vector<SegmentRow> rows_;
  std::array<std::uint32_t, kSegmentStateCount> counts_{};
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_count_ = 0;
};

/// What a record takes of its segment: header and payload, up to the sector and the page.
inline std::uint64_t disk_bytes(const DiskLocator& locator) {
  return round_up(locator.header_bytes(), kSectorBytes) + round_up(locator.payload_bytes, kAlignmentMin);
}

}  // namespace kvtier
