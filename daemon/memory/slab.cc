#include "daemon/memory/slab.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::string fd_name(SlabIndex index, const char* what) {
  return "slab" + std::to_string(index_of(index)) + "." + what;
}

std::uint64_t resident_table_bytes(std::uint64_t slots) {
  return round_up(slot_table_bytes(slots), kPageBytes);
}

}  // namespace

Result<Slab> Slab::create(SlabIndex index, std::uint64_t bytes, bool use_huge_pages, FdStore& fds) {
  Result<UniqueFd> data = shm_create("kvtier-slab", bytes, {.use_huge_pages = use_huge_pages});
  if (!data.is_ok()) return data.status();
  Slab slab;
  slab.index_ = index;
  const std::uint64_t table_bytes =
      resident_table_bytes(std::min<std::uint64_t>(bytes / kSlotAlignment, SlotRef::kSlotsMax));
  Result<UniqueFd> table = shm_create("kvtier-slots", table_bytes, {.reserve_pages = false});
  if (!table.is_ok()) return table.status();
  Result<UniqueFd> data_read = shm_reopen_read_only(data.value().get());
  if (!data_read.is_ok()) return data_read.status();
  Result<UniqueFd> table_read = shm_reopen_read_only(table.value().get());
  if (!table_read.is_ok()) return table_read.status();
  Result<ShmMapping> data_mapping = ShmMapping::map(data.value().get(), bytes, ShmAccess::kReadWrite);
  if (!data_mapping.is_ok()) return data_mapping.status();
  Result<ShmMapping> table_mapping = ShmMapping::map(table.value().get(), table_bytes, ShmAccess::kReadWrite);
  if (!table_mapping.is_ok()) return table_mapping.status();
  KV_RETURN_IF_ERROR(fds.put(fd_name(index, "data"), data.value().get()));
  KV_RETURN_IF_ERROR(fds.put(fd_name(index, "slots"), table.value().get()));
  slab.data_fd_ = std::move(data).value();
  slab.data_read_fd_ = std::move(data_read).value();
  slab.table_fd_ = std::move(table).value();
  slab.table_read_fd_ = std::move(table_read).value();
  slab.data_ = std::move(data_mapping).value();
  slab.table_memory_ = std::move(table_mapping).value();
  return slab;
}

std::uint32_t Slab::slots_max() const {
  return static_cast<std::uint32_t>(table_memory_.size() / sizeof(SlotCell));
}

std::uint64_t Slab::table_bytes_resident() const {
  return resident_table_bytes(slot_count_);
}

Status Slab::assign(NamespaceId owner, std::uint64_t slot_bytes) {
  KV_CHECK(owner_ == NamespaceId::kNone || owner_ == owner, "a slab never changes its namespace");
  KV_CHECK(is_empty() && writing_count == 0, "only an empty slab is assigned");
  if (slot_bytes > bytes()) {
    return {Code::kInvalid, "a block takes " + format_size(slot_bytes) + " and host.slab_bytes is " +
                                format_size(bytes()) + "; raise host.slab_bytes"};
  }
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes() / slot_bytes, slots_max()));
  KV_RETURN_IF_ERROR(shm_reserve(table_fd_.get(), 0, resident_table_bytes(count)));
  auto* words = reinterpret_cast<SlotCell*>(table_memory_.data());
  if (owner_ == NamespaceId::kNone) table_ = SlotTable({words, slots_max()}, count);
  KV_CHECK(table_.reinitialise(count), "every slot of an empty slab is free");
  owner_ = owner;
  slot_bytes_ = slot_bytes;
  slot_count_ = count;
  lost_count_ = 0;
  blocks_.assign(count, BlockId::kNone);
  free_.resize(count);
  std::iota(free_.rbegin(), free_.rend(), 0U);
  return Status::ok();
}

Generation Slab::take(std::uint32_t& slot) {
  KV_CHECK(!free_.empty(), "take() needs a free slot");
  slot = free_.back();
  free_.pop_back();
  const Generation generation = table_.begin_write(slot);
  if (generation == 0) {
    ++lost_count_;
  } else {
    ++writing_count;
  }
  return generation;
}

void Slab::give_back(std::uint32_t slot) {
  KV_CHECK(table_.retire(slot), "only a slot that nobody can lease is given back");
  blocks_[slot] = BlockId::kNone;
  free_.push_back(slot);
}

}  // namespace kvtier
