#pragma once
// The tombstones and invalidations that a recovery found, and what they void. Built once, then asked for each block.

#include <cstdint>
#include <vector>

#include "daemon/disk/format_order.h"

namespace kvtier {

class MarkSet {
 public:
  /// Memory for that many is taken with the first one.
  explicit MarkSet(std::size_t marks_max) : marks_max_(marks_max) {}

  /// False: there is no room, so that it is not known what is void.
  [[nodiscard]] bool add(const RecordOrder& mark);
  /// After the last add(): of one thing the latest mark stays.
  void finish();
  [[nodiscard]] bool voids(const RecordOrder& block) const;
  [[nodiscard]] std::size_t size() const { return marks_.size(); }
  /// Gives the memory back.
  void clear();

 private:
  [[nodiscard]] bool voids(const RecordOrder& block, const Digest& space, const Key& key) const;

  const std::size_t marks_max_;
  std::vector<RecordOrder> marks_;  ///< by what they void
};

}  // namespace kvtier
