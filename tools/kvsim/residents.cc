#include "tools/kvsim/residents.h"

namespace kvtier::sim {
namespace {

BlockTable make_table(std::uint32_t capacity_blocks) {
  NoFdStore fds;
  Result<BlockTable> table = BlockTable::create(capacity_blocks, fds);
  KV_CHECK(table.is_ok() && table.value().reserve(capacity_blocks).is_ok(), "no memory for the block table");
  return std::move(table).value();
}

}  // namespace

Residents::Residents(std::uint32_t capacity_blocks, std::uint32_t unique_blocks)
    : table_(make_table(capacity_blocks)), places_(unique_blocks, BlockId::kNone) {}

BlockId Residents::add(BlockNumber number) {
  const BlockId block = table_.allocate();
  KV_CHECK(block != BlockId::kNone, "the simulated memory is full");
  table_[block].key.words[0] = std::uint64_t{number} + 1;
  places_[number] = block;
  return block;
}

void Residents::remove(BlockId block) {
  places_[number_of(block)] = BlockId::kNone;
  table_.free(block);
}

}  // namespace kvtier::sim
