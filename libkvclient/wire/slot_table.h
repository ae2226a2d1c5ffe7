#pragma once
// The slot table of a slab: one 64-bit word a slot, written by the daemon alone, mapped read-only by clients.
// Layout and states: MEMORY.md. The transitions that readers race with are in pins.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "libkvclient/wire/order_sites.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class SlotState : std::uint8_t {
  kFree = 0,         ///< nobody uses the bytes
  kWriting = 1,      ///< lent to one writer (a client or a disk read); never readable
  kReady = 2,        ///< immutable bytes of one block; the only state that can be leased
  kEvicting = 3,     ///< the daemon looks at the pins; becomes free or is put back to ready
  kQuarantined = 4,  ///< a dead or zombie writer may still touch the bytes
};

inline constexpr std::uint8_t kSlotStateCount = 5;

std::string_view slot_state_name(SlotState state);

/// A decoded slot word: bits 0..39 generation, bits 40..47 state, the rest zero.
struct SlotWord {
  Generation generation = 0;
  SlotState state = SlotState::kFree;

  static constexpr SlotWord decode(std::uint64_t bits) {
    return {bits & kGenerationMax, static_cast<SlotState>((bits >> kGenerationBits) & 0xff)};
  }
  [[nodiscard]] constexpr std::uint64_t encode() const {
    return (generation & kGenerationMax) | (static_cast<std::uint64_t>(state) << kGenerationBits);
  }
  friend constexpr bool operator==(const SlotWord&, const SlotWord&) = default;
};
/// A zero-filled table is a valid table: all free, never used.
static_assert(SlotWord{}.encode() == 0);

/// The one word that an acquire with this generation accepts.
constexpr std::uint64_t ready_word(Generation generation) {
  return SlotWord{generation, SlotState::kReady}.encode();
}

using SlotCell = SharedMemory::Cell64;

constexpr std::size_t slot_table_bytes(std::size_t slot_count) {
  return slot_count * sizeof(SlotCell);
}

/// The daemon's view of the table of one slab. Not thread-safe: one agent owns it. Each transition returns
/// false, and changes nothing, when the slot is not in the state that it starts from.
class SlotTable {
 public:
  SlotTable() = default;
  /// `words` is the whole table memory, `slot_count` the slots in use at the slab's present slot size.
  SlotTable(std::span<SlotCell> words, std::size_t slot_count);

  [[nodiscard]] std::size_t slot_count() const { return slot_count_; }
  [[nodiscard]] SlotWord at(std::uint32_t slot) const;
  [[nodiscard]] SlotCell& cell(std::uint32_t slot);

  /// free -> writing. The new generation, or 0: not free, or its 40 bits are used up (then it is
  /// quarantined).
  [[nodiscard]] Generation begin_write(std::uint32_t slot);
  /// writing of this generation -> ready: readers may lease it from here on.
  [[nodiscard]] bool publish(std::uint32_t slot, Generation generation);
  /// writing (given up), evicting (evicted) or quarantined (its last user exited) -> free.
  [[nodiscard]] bool retire(std::uint32_t slot);
  /// evicting -> ready: for adoption, when the daemon died during an eviction.
  [[nodiscard]] bool put_back(std::uint32_t slot);
  /// writing or evicting -> quarantined.
  [[nodiscard]] bool quarantine(std::uint32_t slot);

  /// The highest generation that the table memory has seen, slots of earlier sizes included.
  [[nodiscard]] Generation generation_floor() const;
  /// For a new slot size. Every slot must be free or quarantined without a user; all become free with the
  /// floor as generation, so that no locator of the old size ever matches again. False: a slot is in use.
  [[nodiscard]] bool reinitialise(std::size_t slot_count);

 private:
  std::span<SlotCell> words_;
  std::size_t slot_count_ = 0;
};

}  // namespace kvtier
