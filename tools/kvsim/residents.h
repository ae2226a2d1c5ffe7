#pragma once
// Which blocks of a trace are in the simulated memory: the daemon's block table, and where each block is in it.

#include <vector>

#include "daemon/model/block_table.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

class Residents {
 public:
  Residents(std::uint32_t capacity_blocks, std::uint32_t unique_blocks);

  [[nodiscard]] BlockTable& table() { return table_; }
  /// kNone: not resident.
  [[nodiscard]] BlockId find(BlockNumber number) const { return places_[number]; }
  [[nodiscard]] bool is_full() const { return table_.used() == table_.blocks_max(); }
  /// Not full, and `number` is not there. Its key is made of the number.
  BlockId add(BlockNumber number);
  void remove(BlockId block);
  [[nodiscard]] BlockNumber number_of(BlockId block) const {
    return static_cast<BlockNumber>(table_[block].key.words[0] - 1);
  }

 private:
  BlockTable table_;
  std::vector<BlockId> places_;
};

}  // namespace kvtier::sim
