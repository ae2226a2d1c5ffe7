#include "daemon/memory/slab.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::string fd_name(SlabIndex index, const char* what) {
  return "slab" + std::to_string(index_of(index)) + "." + what;
}

std::uint64_t table_bytes_for(std::uint64_t slab_bytes) {
  const std::uint64_t slots = std::min<std::uint64_t>(slab_bytes / kSlotAlignment, SlotRef::kSlotsMax);
  return round_up(slot_table_bytes(slots), kPageBytes);
}

std::string lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return "not known";
  return limit.rlim_cur == RLIM_INFINITY ? "unlimited" : format_size(limit.rlim_cur);
}

std::uint64_t resident_table_bytes(std::uint64_t slots) {
  return round_up(slot_table_bytes(slots), kPageBytes);
}

}  // namespace

Result<Slab> Slab::create(SlabIndex index, std::uint64_t bytes, SlabPages pages, FdStore& fds,
                          Generation floor) {
  // Ordinary pages are reserved once huge ones were asked for: what is there already would have to be copied.
  Result<UniqueFd> data = shm_create(
      "kvtier-slab", bytes,
      {.use_huge_pages = pages == SlabPages::kSetAside, .reserve_pages = pages != SlabPages::kGathered});
  if (!data.is_ok()) return data.status();
  Slab slab;
  slab.index_ = index;
  slab.floor_ = floor;
  const std::uint64_t table_bytes = table_bytes_for(bytes);
  Result<UniqueFd> table = shm_create("kvtier-slots", table_bytes, {.reserve_pages = false});
  if (!table.is_ok()) return table.status();
  KV_RETURN_IF_ERROR(fds.put(fd_name(index, "data"), data.value().get()));
  KV_RETURN_IF_ERROR(fds.put(fd_name(index, "slots"), table.value().get()));
  KV_RETURN_IF_ERROR(slab.map_all(std::move(data).value(), std::move(table).value(), bytes));
  if (pages == SlabPages::kSetAside) slab.huge_bytes_ = bytes;
  if (pages != SlabPages::kGathered) return slab;
  slab.gather_huge_pages();
  KV_RETURN_IF_ERROR(shm_reserve(slab.data_fd_.get(), 0, bytes));
  return slab;
}

// Devices and copies take a huge page as one piece. A step that fails ends it: memory is too scattered.
void Slab::gather_huge_pages() {
  constexpr std::uint64_t kStepBytes = 32 * kMiB;
  const std::uint64_t whole = data_.size() / kHugePageBytes * kHugePageBytes;
  for (std::uint64_t at = 0; at < whole; at += kStepBytes) {
    const std::uint64_t bytes = std::min(kStepBytes, whole - at);
    if (!data_.gather_huge_pages(at, bytes)) return;
    huge_bytes_ += bytes;
  }
}

Status Slab::map_all(UniqueFd data, UniqueFd slots, std::uint64_t bytes) {
  const std::uint64_t slots_bytes = table_bytes_for(bytes);
  for (const auto& [fd, size] : {std::pair(data.get(), bytes), std::pair(slots.get(), slots_bytes)}) {
    const Result<std::uint64_t> checked = shm_verify(fd, size);
    if (!checked.is_ok()) return checked.status();
  }
  Result<UniqueFd> data_read = shm_reopen_read_only(data.get());
  if (!data_read.is_ok()) return data_read.status();
  Result<UniqueFd> slots_read = shm_reopen_read_only(slots.get());
  if (!slots_read.is_ok()) return slots_read.status();
  Result<ShmMapping> data_mapping = ShmMapping::map(data.get(), bytes, ShmAccess::kReadWrite);
  if (!data_mapping.is_ok()) return data_mapping.status();
  Result<ShmMapping> slots_mapping = ShmMapping::map(slots.get(), slots_bytes, ShmAccess::kReadWrite);
  if (!slots_mapping.is_ok()) return slots_mapping.status();
  data_fd_ = std::move(data);
  data_read_fd_ = std::move(data_read).value();
  table_fd_ = std::move(slots);
  table_read_fd_ = std::move(slots_read).value();
  data_ = std::move(data_mapping).value();
  table_memory_ = std::move(slots_mapping).value();
  return Status::ok();
}

Result<Slab> Slab::adopt(SlabIndex index, std::uint64_t bytes, UniqueFd data, UniqueFd slots) {
  Slab slab;
  slab.index_ = index;
  const Status status = slab.map_all(std::move(data), std::move(slots), bytes);
  if (!status.is_ok()) return status.while_doing("adopting slab " + std::to_string(index_of(index)));
  return slab;
}

Status Slab::lock() {
  if (::mlock(data_.data(), data_.size()) == 0) {
    is_locked_ = true;
    return Status::ok();
  }
  const Status failed = Status::from_errno("mlock of " + format_size(data_.size()), errno);
  return {Code::kNoSpace, failed.message() + "; RLIMIT_MEMLOCK is " + lock_limit() +
                              ": raise it (LimitMEMLOCK= of the unit, ulimit -l) above host.bytes"};
}

Status Slab::adopt_assignment(NamespaceId owner, std::uint64_t slot_bytes) {
  if (slot_bytes == 0 || slot_bytes % kSlotAlignment != 0 || slot_bytes > bytes()) {
    return {Code::kInvalid, "slab " + std::to_string(index_of(index_)) + " has slots of " +
                                std::to_string(slot_bytes) + " bytes"};
  }
  owner_ = owner;
  slot_bytes_ = slot_bytes;
  slot_count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes() / slot_bytes, slots_max()));
  table_ = SlotTable({reinterpret_cast<SlotCell*>(table_memory_.data()), slots_max()}, slot_count_);
  blocks_.assign(slot_count_, BlockId::kNone);
  free_.reserve(slot_count_);
  return Status::ok();
}

void Slab::finish_adoption() {
  for (std::uint32_t slot = slot_count_; slot-- > 0;) {
    if (blocks_[slot] != BlockId::kNone) continue;
    const SlotState state = table_.at(slot).state;
    // Ready without a record: somebody may lease it, nobody knows what it is. Such a slab never counts as
    // empty.
    if (state == SlotState::kReady) continue;
    if (state != SlotState::kFree)
      KV_CHECK(table_.retire(slot), "a slot that is neither free nor ready retires");
    free_.push_back(slot);
  }
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
  if (owner_ == NamespaceId::kNone) {
    table_ = SlotTable({words, slots_max()}, count);
    // relaxed: nobody maps this table yet
    if (floor_ > 0) words[0].store(SlotWord{floor_, SlotState::kFree}.encode(), std::memory_order_relaxed);
  }
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
