#pragma once
// Which record of a key counts, and what tombstones and invalidations void.

#include "daemon/disk/format.h"

namespace kvtier {

/// What order needs of a record; from its header or from an index entry.
struct RecordOrder {
  RecordKind kind = RecordKind::kBlock;
  std::uint64_t sequence = 0;
  std::uint64_t born = 0;
  Digest tenant{};
  Digest space{};
  Key key{};
};

RecordOrder order_of(const RecordHeader& header);
RecordOrder order_of(const IndexEntry& entry, const IndexScope& scope);

constexpr std::uint64_t sequence_number(std::uint64_t epoch, std::uint64_t count) {
  return epoch << kSequenceCountBits | count;
}

/// Whether `mark`, a tombstone or an invalidation, makes `block` a miss. Moves keep `born`, so that a block that was
/// rewritten meanwhile does not come back.
bool is_void(const RecordOrder& mark, const RecordOrder& block);

/// Of two copies of one block, which reclaim and a crash may leave: the later write.
bool is_newer(const RecordOrder& a, const RecordOrder& b);

}  // namespace kvtier
