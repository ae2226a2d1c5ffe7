#include "libkvclient/wire/slot_table.h"

#include <algorithm>
#include <array>

#include "libkvclient/base/check.h"
#include "libkvclient/wire/pins.h"

namespace kvtier {

std::string_view slot_state_name(SlotState state) {
  static constexpr std::array<std::string_view, kSlotStateCount> kNames = {"free", "writing", "ready",
                                                                           "evicting", "quarantined"};
  const auto index = static_cast<std::size_t>(state);
  return index < kNames.size() ? kNames[index] : "unknown";
}

SlotTable::SlotTable(std::span<SlotCell> words, std::size_t slot_count)
    : words_(words), slot_count_(slot_count) {
  KV_CHECK(slot_count <= words.size(), "more slots than words");
}

SlotCell& SlotTable::cell(std::uint32_t slot) {
  KV_CHECK(slot < slot_count_, "slot out of range");
  return words_[slot];
}

SlotWord SlotTable::at(std::uint32_t slot) const {
  KV_CHECK(slot < slot_count_, "slot out of range");
  // relaxed: the daemon, the only writer, reads its own last store.
  return SlotWord::decode(words_[slot].load(std::memory_order_relaxed));
}

Generation SlotTable::begin_write(std::uint32_t slot) {
  SlotCell& word = cell(slot);
  const Generation generation = Pins::begin_write(word);
  // A wrapped generation could match a locator of long ago: the slot is given up instead.
  if (generation == 0 && at(slot) == SlotWord{kGenerationMax, SlotState::kFree}) {
    (void)Pins::retire(word, SlotState::kQuarantined);
  }
  return generation;
}

bool SlotTable::publish(std::uint32_t slot, Generation generation) {
  return Pins::publish(cell(slot), generation);
}

bool SlotTable::retire(std::uint32_t slot) {
  return Pins::retire(cell(slot), SlotState::kFree);
}

bool SlotTable::put_back(std::uint32_t slot) {
  return Pins::put_back(cell(slot));
}

bool SlotTable::quarantine(std::uint32_t slot) {
  const SlotState state = at(slot).state;
  if (state != SlotState::kWriting && state != SlotState::kEvicting) return false;
  return Pins::retire(cell(slot), SlotState::kQuarantined);
}

Generation SlotTable::generation_floor() const {
  Generation floor = 0;
  for (const SlotCell& word : words_) {
    // relaxed: own stores, or those of a daemon that is dead.
    floor = std::max(floor, SlotWord::decode(word.load(std::memory_order_relaxed)).generation);
  }
  return floor;
}

bool SlotTable::reinitialise(std::size_t slot_count) {
  KV_CHECK(slot_count <= words_.size(), "more slots than words");
  for (std::uint32_t slot = 0; slot < slot_count_; ++slot) {
    const SlotState state = at(slot).state;
    if (state != SlotState::kFree && state != SlotState::kQuarantined) return false;
  }
  const SlotWord fresh{generation_floor(), SlotState::kFree};
  // relaxed: from not-ready to not-ready; a reader cannot tell. Words beyond the new count keep the floor,
  // too.
  for (SlotCell& word : words_) word.store(fresh.encode(), std::memory_order_relaxed);
  slot_count_ = slot_count;
  return true;
}

}  // namespace kvtier
