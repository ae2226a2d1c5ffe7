#pragma once
// Committed blocks whose checksum is to be taken, oldest first. A list through the blocks' own records: while a
// block waits here, BlockRecord::checksum, which is not valid yet, holds the links. Thread: the conductor.

#include <array>
#include <cstdint>

#include "daemon/model/block_table.h"
#include "libkvclient/base/clock.h"

namespace kvtier {

class ChecksumQueue {
 public:
  /// A block waits one to two of these: one that leaves at once never pays for a checksum, and what is not summed
  /// is lost with the daemon.
  static constexpr TimeNs kTurnNs = kNsPerSecond / 2;

  /// Marks the block kBlockQueued.
  void push(BlockTable& blocks, BlockId id, TimeNs now_ns);
  /// A queued block leaves.
  void remove(BlockTable& blocks, BlockId id);
  /// Somebody waits for a queued block's sum: it is due, and the next one.
  void hurry(BlockTable& blocks, BlockId id);
  /// The oldest block that has waited long enough, taken off; kNone: there is none.
  BlockId pop_due(BlockTable& blocks, TimeNs now_ns);

  [[nodiscard]] TimeNs next_due_ns() const { return due_.first != BlockId::kNone ? 0 : turn_at_ns_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }

 private:
  struct List {
    BlockId first = BlockId::kNone;
    BlockId last = BlockId::kNone;
  };
  void turn(BlockTable& blocks);
  static void append(BlockTable& blocks, List& list, const List& more);

  List young_;  ///< committed since the last turn
  List older_;  ///< before it
  List due_;
  TimeNs turn_at_ns_ = kNever;  ///< kNever: nobody waits for a turn
  std::uint32_t size_ = 0;
};

}  // namespace kvtier
