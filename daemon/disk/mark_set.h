#pragma once
// The tombstones and invalidations that count: those that a recovery found, and those of since. A later mark of a namespace
// stands for the earlier ones of it, of its spaces and of their keys, one of a space for those of its keys: whatever they
// void it voids too. Their records are dead.

#include <cstdint>
#include <vector>

#include "daemon/disk/format_order.h"

namespace kvtier {

class MarkSet {
 public:
  /// Memory for that many, and `beside` more, is taken by finish().
  explicit MarkSet(std::size_t marks_max, std::size_t beside = 0) : marks_max_(marks_max), beside_(beside) {}

  // During recovery. What is on disk is on disk: there is no limit, but what a later one stands for takes no place.
  void add(const RecordOrder& mark);
  /// After the last add().
  void finish();

  // From then on; memory is taken only for what was admitted in place of marks that another one removed meanwhile.
  /// Whether the mark finds a place beside `pending` others: there is one, or an earlier mark gives up its own.
  [[nodiscard]] bool admits(const RecordOrder& mark, std::size_t pending) const;
  /// One that was admitted, and is durable.
  void insert(const RecordOrder& mark);
  /// Nothing is left that this one voids.
  void remove(const RecordOrder& mark);
  /// A later one stands for it.
  [[nodiscard]] bool is_covered(const RecordOrder& mark) const;
  [[nodiscard]] bool voids(const RecordOrder& block) const;
  [[nodiscard]] std::size_t size() const { return marks_.size(); }

 private:
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] const RecordOrder* find(const RecordOrder& of, const Digest& space, const Key& key) const;
  /// Marks of the same thing, and of what is inside it.
  [[nodiscard]] Range inside(const RecordOrder& mark) const;

  const std::size_t marks_max_;
  const std::size_t beside_;
  std::size_t compact_at_ = 0;  ///< while they are added
  std::vector<RecordOrder>
      marks_;  ///< by what they void, a namespace before its spaces, a space before its keys
};

}  // namespace kvtier
