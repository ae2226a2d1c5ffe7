#pragma once
// A registered spec. Registered again by the service thread in every new session; `binding` is what the read
// path needs of that, in one word.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/spec.h"
#include "libkvclient/wire/types.h"

namespace kvtier::client {

class Core;

/// Space id, slot size and session epoch in 64 bits, so that they are read together. The epoch's low 13 bits
/// are enough: a binding is cleared at every hang-up, it never outlives its neighbours in time.
struct Binding {
  SpaceId space = SpaceId::kNone;
  std::uint64_t slot_bytes = 0;
  std::uint32_t epoch_low = 0;

  static constexpr unsigned kEpochBits = 13;
  static constexpr unsigned kPagesBits = 19;
  static constexpr std::uint64_t kSlotBytesMax = ((std::uint64_t{1} << kPagesBits) - 1) * kPageBytes;

  static constexpr std::uint32_t low(std::uint32_t epoch) { return epoch & ((1U << kEpochBits) - 1); }
  static constexpr Binding unpack(std::uint64_t bits) {
    return {static_cast<SpaceId>(bits >> 32), ((bits >> kEpochBits) & ((1U << kPagesBits) - 1)) * kPageBytes,
            low(static_cast<std::uint32_t>(bits))};
  }
  [[nodiscard]] constexpr std::uint64_t pack() const {
    return (static_cast<std::uint64_t>(space) << 32) | ((slot_bytes / kPageBytes) << kEpochBits) | epoch_low;
  }
  [[nodiscard]] constexpr bool is_of(std::uint32_t epoch) const {
    return space != SpaceId::kNone && epoch_low == low(epoch);
  }
};

struct Space {
  // constant after construction
  std::shared_ptr<Core> core;
  Spec spec;
  std::vector<std::byte> encoding;
  Digest digest{};
  std::uint64_t block_bytes = 0;

  std::atomic<std::uint64_t> binding{0};
  std::atomic<std::uint32_t> stock_target{0};  ///< offers that a refill asks for; grows with what calls need

  // guarded by Core's mutex
  std::uint32_t sequence = 0;  ///< of the registration under way; 0: none
  Status refusal;
};

}  // namespace kvtier::client
