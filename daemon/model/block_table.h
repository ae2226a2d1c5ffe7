#pragma once
// The table of block records: a fixed pool in one memfd (restart: DESIGN 3), free records chained through
// `next`. Pages are reserved in steps when a slab is given out, never on the request path. Thread: the
// conductor.

#include <cstdint>
#include <memory>

#include "daemon/model/block_record.h"
#include "daemon/model/fd_store.h"
#include "libkvclient/base/result.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier {

class BlockTable {
 public:
  /// An empty table for at most `blocks_max` records.
  static Result<BlockTable> create(std::uint32_t blocks_max, FdStore& fds);
  /// The table that an earlier instance left. Its records are input: the adopter checks each.
  /// `reserved`: how many of them have pages.
  static Result<BlockTable> adopt(UniqueFd fd, std::uint32_t blocks_max, std::uint32_t reserved);

  /// Reserves pages for `count` records in all. kNoSpace when memory or blocks_max is short.
  Status reserve(std::uint32_t count);

  /// A zeroed record with no links, for a slot that is to be written; kNone when the table is full.
  BlockId allocate(BlockState as = BlockState::kWriting);
  void free(BlockId id);

  BlockRecord& operator[](BlockId id) { return records_[index_of(id)]; }
  const BlockRecord& operator[](BlockId id) const { return records_[index_of(id)]; }
  [[nodiscard]] bool is_valid(std::uint32_t index) const { return index < limit_; }

  void set_state(BlockId id, BlockState to);

  /// Records ever used: the bound of an iteration over all.
  [[nodiscard]] std::uint32_t limit() const { return limit_; }
  [[nodiscard]] std::uint32_t blocks_max() const { return blocks_max_; }
  [[nodiscard]] std::uint32_t used() const { return used_; }
  [[nodiscard]] std::uint64_t bytes_resident() const {
    return std::uint64_t{reserved_} * sizeof(BlockRecord);
  }
  /// After adoption: chains every record that is not in use.
  void rebuild_free_list();
  /// For the adopter, which judges records from before it: any state, without the table of transitions.
  void adopt_state(BlockId id, BlockState state) { records_[index_of(id)].state = state; }
  [[nodiscard]] std::uint32_t reserved() const { return reserved_; }

 private:
  UniqueFd fd_;
  ShmMapping mapping_;
  BlockRecord* records_ = nullptr;
  std::uint32_t blocks_max_ = 0;
  std::uint32_t reserved_ = 0;
  std::uint32_t limit_ = 0;
  std::uint32_t used_ = 0;
  BlockId free_ = BlockId::kNone;
};

}  // namespace kvtier
