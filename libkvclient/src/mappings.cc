#include "libkvclient/src/mappings.h"

#include <sys/mman.h>

#include <algorithm>

#include "libkvclient/base/units.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace kvtier::client {
namespace {

constexpr std::uint64_t kPopulateStep = 2 * kMiB;

// Maps the next piece; a kernel before 5.14 says EINVAL, and pages then come by faults, one by one.
bool populate_step(const ShmMapping& mapping, std::uint64_t& done_bytes, int advice) {
  if (done_bytes >= mapping.size()) return false;
  const std::uint64_t step = std::min(kPopulateStep, mapping.size() - done_bytes);
  const bool worked = ::madvise(mapping.data() + done_bytes, step, advice) == 0;
  done_bytes = worked ? done_bytes + step : mapping.size();
  return true;
}

bool is_same(const Hold& one, const Hold& other) {
  return one.block == other.block && one.generation_low == other.generation_low;
}

bool is_listed(const std::vector<std::uint32_t>& list, std::uint32_t slab) {
  return std::find(list.begin(), list.end(), slab) != list.end();
}

}  // namespace

Status Mappings::add(const SlabAdd& add, const std::vector<UniqueFd>& fds) {
  Result<std::unique_ptr<SlabMapping>> made = SlabMapping::create(add, fds, pins_bytes_);
  if (!made.is_ok()) return made.status();
  const std::lock_guard lock(mutex_);
  const SlabMapping* old = find(add.slab);
  if (old != nullptr) {
    // A resumed session is told again of what it has; anything else under a known index is a mistake.
    if (old->is_same_memory(*made.value())) return Status::ok();
    return {Code::kInvalid,
            "slab " + std::to_string(add.slab) + " was announced twice with different memory"};
  }
  slabs_[add.slab] = std::move(made).value();
  return Status::ok();
}

Result<SlabState> Mappings::revoke(std::uint32_t slab, std::uint32_t epoch) {
  const std::lock_guard lock(mutex_);
  SlabMapping* mapping = find(slab);
  if (mapping == nullptr) return SlabState::kUnmapped;
  if (mapping->open_count > 0) {
    mapping->revoke_epoch = epoch;
    return SlabState::kBusy;
  }
  KV_RETURN_IF_ERROR(mapping->data.protect(ShmAccess::kReadOnly));
  mapping->is_lent = false;
  return SlabState::kReleased;
}

std::vector<SlabAck> Mappings::take_released() {
  std::vector<SlabAck> acks;
  const std::lock_guard lock(mutex_);
  for (auto& [index, mapping] : slabs_) {
    if (!mapping->revoke_epoch || mapping->open_count > 0) continue;
    if (!mapping->data.protect(ShmAccess::kReadOnly).is_ok()) continue;
    mapping->is_lent = false;
    SlabAck ack{};
    ack.header = message_header(MessageType::kSlabAck, sizeof ack, 0);
    ack.slab = index;
    ack.epoch = *mapping->revoke_epoch;
    ack.state = SlabState::kReleased;
    acks.push_back(ack);
    mapping->revoke_epoch.reset();
  }
  return acks;
}

bool Mappings::try_remove(std::uint32_t slab, const std::byte* pins_base) {
  const std::lock_guard lock(mutex_);
  const SlabMapping* mapping = find(slab);
  if (mapping == nullptr) return true;
  if (mapping->open_count > 0 || mapping->is_pinned(pins_base)) return false;
  slabs_.erase(slab);
  return true;
}

std::vector<SlabView> Mappings::views(std::byte* pins_base, const std::vector<std::uint32_t>& without) const {
  std::vector<SlabView> views;
  const std::lock_guard lock(mutex_);
  if (!slabs_.empty()) views.resize(slabs_.rbegin()->first + 1);
  for (const auto& [index, mapping] : slabs_) {
    if (!is_listed(without, index)) views[index] = mapping->view(pins_base);
  }
  return views;
}

bool Mappings::populate_some() {
  const std::lock_guard lock(mutex_);
  for (auto& [index, mapping] : slabs_) {
    if (mapping->is_lent &&
        populate_step(mapping->data, mapping->populated_write_bytes, MADV_POPULATE_WRITE)) {
      return true;
    }
    if (mapping->is_touched.load(std::memory_order_relaxed) &&
        populate_step(mapping->data, mapping->populated_read_bytes, MADV_POPULATE_READ)) {
      return true;
    }
  }
  return false;
}

Result<std::byte*> Mappings::lend(const Grant& grant, std::uint64_t slot_bytes, std::uint64_t block_bytes) {
  const SlotRef slot = grant.slot;
  const std::lock_guard lock(mutex_);
  SlabMapping* mapping = find(slot.slab());
  if (mapping == nullptr) return Status(Code::kNotFound, "a slab that is not mapped yet");
  const std::uint64_t offset = slot.slot() * slot_bytes;
  const bool fits =
      slot.slot() < mapping->facts.slots_max && offset + block_bytes <= mapping->facts.slab_bytes;
  const bool is_writable = (mapping->facts.flags & kSlabWritable) != 0;
  if (!fits || !is_writable || mapping->is_open[slot.slot()]) {
    return Status(Code::kInvalid, "the daemon granted a slot that cannot be written");
  }
  if (!mapping->is_lent) {
    KV_RETURN_IF_ERROR(mapping->data.protect(ShmAccess::kReadWrite));
    mapping->is_lent = true;
    mapping->populated_write_bytes = 0;
  }
  mapping->is_open[slot.slot()] = true;
  mapping->holds[slot.slot()] = grant.hold;
  ++mapping->open_count;
  return mapping->data.data() + offset;
}

bool Mappings::give_back(const Grant& grant, bool* wants_service) {
  const SlotRef slot = grant.slot;
  const std::lock_guard lock(mutex_);
  SlabMapping* mapping = find(slot.slab());
  if (mapping == nullptr || slot.slot() >= mapping->is_open.size() || !mapping->is_open[slot.slot()])
    return false;
  if (!is_same(mapping->holds[slot.slot()], grant.hold)) return false;
  mapping->is_open[slot.slot()] = false;
  --mapping->open_count;
  *wants_service = mapping->open_count == 0 && mapping->revoke_epoch.has_value();
  return true;
}

std::uint64_t Mappings::mapped_bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [index, mapping] : slabs_) sum += mapping->facts.slab_bytes;
  return sum;
}

std::uint32_t Mappings::slabs_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint32_t>(slabs_.size());
}

SlabMapping* Mappings::find(std::uint32_t slab) const {
  const auto at = slabs_.find(slab);
  return at == slabs_.end() ? nullptr : at->second.get();
}

}  // namespace kvtier::client
