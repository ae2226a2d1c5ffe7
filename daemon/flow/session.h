#pragma once
// A client's session as the store knows it: its channel, what it writes and holds. Thread: the conductor.

#include <array>
#include <cstdint>
#include <string>

#include "daemon/flow/store.h"
#include "daemon/model/ids.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/wire/access_log.h"
#include "libkvclient/wire/pins.h"
#include "libkvclient/wire/shm_segment.h"
#include "libkvclient/wire/stock.h"

namespace kvtier {

/// What one session leases, as counted last.
struct Leased {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unpinned_bytes = 0;  ///< of them, those without a pin of the same client
};

/// Where the count of leases has come to (pin_census.h).
struct PinCensus {
  std::uint64_t completed = 0;  ///< rounds
  std::uint32_t session = 0;
  std::uint64_t session_id = 0;  ///< whose pins `counting` has; 0: nobody's yet
  std::uint32_t slab = 0;
  std::uint32_t slot = 0;
  Leased counting;
};

/// Records that were taken from a session's access log and not followed to their ends yet (access.h).
struct AccessRest {
  std::array<AccessRecord, 32> records{};
  std::uint32_t count = 0;
  std::uint32_t next = 0;  ///< the one that is followed
  std::uint32_t left = 0;  ///< of its blocks; 0: it was not begun
  BlockId at = BlockId::kNone;
  SpaceId space = SpaceId::kNone;  ///< with the key: `at` is still the same block
  Key key{};
};

constexpr std::array<BlockId, kStockEntries> empty_stock() {
  std::array<BlockId, kStockEntries> stock{};
  stock.fill(BlockId::kNone);
  return stock;
}

/// Slabs that somebody keeps from being emptied.
struct KeptSlabs {
  std::uint32_t pinned = 0;   ///< by leases and pins
  std::uint32_t writing = 0;  ///< by blocks being written, or a revocation that was not answered
};

struct Session {
  enum class Life : std::uint8_t { kAttached, kZombie, kAdopted };

  // constant after opening
  SessionIndex index = SessionIndex::kNone;
  std::uint64_t id = 0;
  std::array<std::uint64_t, 2> secret{};
  NamespaceId tenant = NamespaceId::kNone;
  SessionRequest request;
  TimeNs opened_ns = 0;
  UniqueFd channel_fd;
  ShmMapping channel;
  AccessLogConsumer access_log;

  AccessRest access_rest;
  Life life = Life::kAttached;
  BlockId writing = BlockId::kNone;  ///< list through prev and next: written, stocked or quarantined blocks
  std::uint32_t writing_count = 0;
  std::array<BlockId, kStockEntries> stock = empty_stock();  ///< by entry: the stocked block
  std::uint32_t stocked_count = 0;                           ///< of them; part of writing_count
  std::uint32_t slabs_lent = 0;
  std::uint32_t requests_open = 0;      ///< waits, deferred reservations and invalidations: not answered yet
  std::uint32_t blocks_waited_for = 0;  ///< by its open waits
  std::uint32_t sums_waited_for = 0;    ///< entries of its open kSums
  bool is_doubting = false;             ///< one of them is a doubt
  std::uint32_t pins_seen = 0;  ///< candidates that this session's pins kept, in the last eviction pass
  KeptSlabs kept_slabs;         ///< in the last attempt to empty one: by the first holder found in each
  Leased leased;                ///< as the census counted last
  TimeNs refused_for_ns =
      0;  ///< when a reservation was refused last since this one had not answered; 0: never
  BlockId hoarded =
      BlockId::kNone;  ///< its newest when its open reservations left others without room (blame.h)
  Generation hoarded_generation = 0;  ///< of that block's slot
  TimeNs hoarded_ns = 0;              ///< when that was
  UniqueFd pidfd;                     ///< of an adopted session, until it comes back or exits

  [[nodiscard]] const PinCell& pin(const Slab& slab, std::uint32_t slot, std::uint64_t pins_stride) const {
    const std::byte* pins = channel.data() + ChannelLayout::kPins + index_of(slab.index()) * pins_stride;
    return reinterpret_cast<const PinCell*>(pins)[slot];
  }
};

}  // namespace kvtier
