#include "daemon/io/io_slots.h"

#include <numeric>

#include "libkvclient/base/check.h"

namespace kvtier {

IoSlots::IoSlots(std::uint32_t count) : slots_(count + std::size_t{1}), free_(count) {
  KV_CHECK(count > 0, "a ring takes one request at least");
  std::iota(free_.rbegin(), free_.rend(), 0U);
  slots_[end()].previous = slots_[end()].next = end();
}

IoId IoSlots::take(const IoRequest& request) {
  KV_CHECK(!free_.empty(), "take() needs a free slot");
  const std::uint32_t at = free_.back();
  free_.pop_back();
  IoSlot& slot = slots_[at];
  slot.request = request;
  slot.done = slot.retries = 0;
  slot.is_answered = false;
  link(at, end());
  return id(at);
}

void IoSlots::give_back(std::uint32_t slot) {
  KV_CHECK(slots_[slot].state == IoSlot::State::kFinished, "only a finished request leaves its slot");
  slots_[slot].state = IoSlot::State::kFree;
  ++slots_[slot].generation;
  free_.push_back(slot);
}

IoSlot* IoSlots::find(IoId id) {
  if (id.slot >= count()) return nullptr;
  IoSlot& slot = slots_[id.slot];
  return slot.generation == id.generation && slot.state != IoSlot::State::kFree ? &slot : nullptr;
}

void IoSlots::link(std::uint32_t slot, std::uint32_t before) {
  IoSlot& linked = slots_[slot];
  linked.state = IoSlot::State::kWaiting;
  linked.next = before;
  linked.previous = slots_[before].previous;
  slots_[linked.previous].next = slot;
  slots_[before].previous = slot;
}

void IoSlots::stop_waiting(std::uint32_t slot) {
  IoSlot& linked = slots_[slot];
  KV_CHECK(linked.state == IoSlot::State::kWaiting, "only who waits stops waiting");
  slots_[linked.previous].next = linked.next;
  slots_[linked.next].previous = linked.previous;
}

}  // namespace kvtier
