#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "libkvclient/src/map_verified.h"
#include "libkvclient/src/mappings.h"

namespace kvtier::client {
namespace {

Status wrong(const SlabAdd& add, const std::string& why) {
  return {Code::kInvalid, "slab " + std::to_string(add.slab) + ": " + why};
}

Status check_facts(const SlabAdd& add, std::size_t fds_count, std::uint64_t pins_bytes) {
  if (fds_count != 2) return wrong(add, std::to_string(fds_count) + " descriptors where 2 are due");
  if (add.slab >= SlotRef::kSlabsMax) return wrong(add, "the index is too large");
  if (add.slots_max == 0 || add.slots_max > SlotRef::kSlotsMax) {
    return wrong(add, "slots_max " + std::to_string(add.slots_max));
  }
  if (add.table_bytes < slot_table_bytes(add.slots_max)) return wrong(add, "its slot table is too short");
  const std::uint64_t pins = pin_table_bytes(add.slots_max);
  if (add.pins_offset % sizeof(PinCell) != 0 || add.pins_offset > pins_bytes ||
      pins > pins_bytes - add.pins_offset) {
    return wrong(add, "its pin counters lie outside the channel");
  }
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<SlabMapping>> SlabMapping::create(const SlabAdd& add, const std::vector<UniqueFd>& fds,
                                                         std::uint64_t pins_bytes) {
  KV_RETURN_IF_ERROR(check_facts(add, fds.size(), pins_bytes));
  const bool is_writable = (add.flags & kSlabWritable) != 0;
  auto slab = std::make_unique<SlabMapping>();
  slab->facts = add;
  Result<ShmMapping> data =
      map_verified(fds[0].get(), add.slab_bytes, is_writable ? ShmAccess::kReadWrite : ShmAccess::kReadOnly);
  if (!data.is_ok()) return data.status().while_doing("mapping a slab");
  // Writable in principle, read-only until it is lent: a wild pointer of the engine hits nothing.
  if (is_writable) KV_RETURN_IF_ERROR(data.value().protect(ShmAccess::kReadOnly));
  Result<ShmMapping> table = map_verified(fds[1].get(), add.table_bytes, ShmAccess::kReadOnly);
  if (!table.is_ok()) return table.status().while_doing("mapping a slot table");
  struct stat info {};
  if (::fstat(fds[0].get(), &info) != 0) return Status::from_errno("fstat", errno);
  slab->inode = info.st_ino;
  slab->data = std::move(data).value();
  slab->table = std::move(table).value();
  slab->is_open.resize(add.slots_max);
  // Here: lend() takes no memory. Not initialized: pages of places that no slot of this size has are never touched.
  if (is_writable) slab->holds = std::make_unique_for_overwrite<Hold[]>(add.slots_max);
  return slab;
}

SlabView SlabMapping::view(std::byte* pins_base) const {
  return {data.data(),
          reinterpret_cast<const SlotCell*>(table.data()),
          reinterpret_cast<PinCell*>(pins_base + facts.pins_offset),
          facts.slab_bytes,
          static_cast<std::uint32_t>(facts.slots_max),
          &is_touched};
}

bool SlabMapping::is_same_memory(const SlabMapping& other) const {
  return inode == other.inode && facts.slab_bytes == other.facts.slab_bytes &&
         facts.slots_max == other.facts.slots_max && facts.pins_offset == other.facts.pins_offset;
}

bool SlabMapping::is_pinned(const std::byte* pins_base) const {
  const auto* pins = reinterpret_cast<const PinCell*>(pins_base + facts.pins_offset);
  // acquire: the reads of a lease that ended are before the unmapping that follows a zero.
  return std::any_of(pins, pins + facts.slots_max,
                     [](const PinCell& pin) { return pin.load(std::memory_order_acquire) != 0; });
}

}  // namespace kvtier::client
