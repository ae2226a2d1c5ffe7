#include "daemon/model/block_table.h"

#include <algorithm>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kReserveStep = kMiB;

std::uint64_t table_bytes(std::uint32_t blocks) {
  return round_up(std::uint64_t{blocks} * sizeof(BlockRecord), kReserveStep);
}

}  // namespace

Result<BlockTable> BlockTable::create(std::uint32_t blocks_max, FdStore& fds) {
  Result<UniqueFd> fd = shm_create("kvtier-blocks", table_bytes(blocks_max), {.reserve_pages = false});
  if (!fd.is_ok()) return fd.status().while_doing("creating the block table");
  KV_RETURN_IF_ERROR(fds.put("blocks", fd.value().get()));
  return adopt(std::move(fd).value(), blocks_max, 0);
}

Result<BlockTable> BlockTable::adopt(UniqueFd fd, std::uint32_t blocks_max, std::uint32_t reserved) {
  Result<std::uint64_t> size = shm_verify(fd.get(), table_bytes(blocks_max));
  if (!size.is_ok()) return size.status().while_doing("checking the block table");
  Result<ShmMapping> mapping = ShmMapping::map(fd.get(), size.value(), ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status().while_doing("mapping the block table");
  BlockTable table;
  table.fd_ = std::move(fd);
  table.mapping_ = std::move(mapping).value();
  table.records_ = reinterpret_cast<BlockRecord*>(table.mapping_.data());
  table.blocks_max_ = blocks_max;
  table.reserved_ = table.limit_ = std::min(reserved, blocks_max);
  return table;
}

Status BlockTable::reserve(std::uint32_t count) {
  if (count <= reserved_) return Status::ok();
  if (count > blocks_max_) {
    return {Code::kNoSpace, "index.blocks_max is " + std::to_string(blocks_max_) + " and " +
                                std::to_string(count) + " blocks are needed; raise it or use larger blocks"};
  }
  const std::uint64_t from = table_bytes(reserved_);
  const std::uint64_t to = table_bytes(count);
  if (to > from) KV_RETURN_IF_ERROR(shm_reserve(fd_.get(), from, to - from));
  reserved_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks_max_, to / sizeof(BlockRecord)));
  return Status::ok();
}

BlockId BlockTable::allocate(BlockState as) {
  BlockId id = free_;
  if (id != BlockId::kNone) {
    free_ = (*this)[id].next;
  } else if (limit_ < reserved_) {
    id = BlockId{limit_++};
  } else {
    return BlockId::kNone;
  }
  BlockRecord& record = (*this)[id];
  record = BlockRecord{};
  record.parent = record.first_child = record.next_sibling = record.prev_sibling = BlockId::kNone;
  record.prev = record.next = BlockId::kNone;
  record.writer = kNoWriter;
  set_state(id, as);
  ++used_;
  return id;
}

void BlockTable::free(BlockId id) {
  set_state(id, BlockState::kFree);
  (*this)[id].next = free_;
  free_ = id;
  --used_;
}

void BlockTable::set_state(BlockId id, BlockState to) {
  BlockRecord& record = (*this)[id];
  KV_CHECK(is_legal_transition(record.state, to), "a block changes state only as block_record.h allows");
  record.state = to;
}

void BlockTable::rebuild_free_list() {
  free_ = BlockId::kNone;
  used_ = 0;
  for (std::uint32_t i = limit_; i-- > 0;) {
    if (records_[i].state != BlockState::kFree) {
      ++used_;
      continue;
    }
    records_[i].next = free_;
    free_ = BlockId{i};
  }
}

}  // namespace kvtier
