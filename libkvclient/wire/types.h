#pragma once
// Identifiers that cross the wire. Trivially copyable; fixed width.

#include <cstdint>

#include "libkvclient/base/digest.h"

namespace kvtier {

/// A registered spec inside one namespace. 0 is never given out.
enum class SpaceId : std::uint32_t { kNone = 0 };

/// One slot of one slab: 14 bits of slab index, 18 bits of slot index.
struct SlotRef {
  std::uint32_t bits = 0;

  static constexpr unsigned kSlotBits = 18;
  static constexpr std::uint32_t kSlotsMax = 1U << kSlotBits;
  static constexpr std::uint32_t kSlabsMax = 1U << (32 - kSlotBits);

  static constexpr SlotRef of(std::uint32_t slab, std::uint32_t slot) { return {(slab << kSlotBits) | slot}; }
  [[nodiscard]] constexpr std::uint32_t slab() const { return bits >> kSlotBits; }
  [[nodiscard]] constexpr std::uint32_t slot() const { return bits & (kSlotsMax - 1); }
  friend constexpr bool operator==(SlotRef, SlotRef) = default;
};

/// Counts the uses of a slot. Monotonic over a slab's life, a change of slot size included. 40 bits: at a
/// million reuses a second of one slot it lasts twelve days of nothing else. 0 means "never used" and matches
/// nothing.
using Generation = std::uint64_t;
inline constexpr unsigned kGenerationBits = 40;
inline constexpr Generation kGenerationMax = (Generation{1} << kGenerationBits) - 1;

/// Where a block's bytes are in one tier. A generation of 0: not there.
struct Locator {
  SlotRef slot;
  Generation generation = 0;

  [[nodiscard]] constexpr bool is_present() const { return generation != 0; }
  friend constexpr bool operator==(const Locator&, const Locator&) = default;
};

/// Slots are page aligned and whole pages (O_DIRECT, mprotect, DMA registration).
inline constexpr std::uint64_t kSlotAlignment = 4096;

}  // namespace kvtier
