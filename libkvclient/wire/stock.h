#pragma once
// A client's stock: slots that the daemon granted ahead of need, so that a reserve without claim costs no round trip.
// A table of entries in the channel; MEMORY.md, "Stock", has states and the argument. One word an entry decides who has
// it, and an offer changes hands by compare-exchange: the client takes it, or the daemon takes it back, never both, and
// neither waits for the other.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libkvclient/wire/commands.h"
#include "libkvclient/wire/stock_word.h"

namespace kvtier {

inline constexpr std::uint32_t kStockEntries = 64;

struct StockGrant {
  SlotRef slot;
  std::uint32_t reserved;
  Hold hold;
  std::uint64_t generation;
};
static_assert(sizeof(StockGrant) == 24 && std::is_trivially_copyable_v<StockGrant>);

/// What the client names when it takes a slot. The daemon reads it with the commit.
struct StockName {
  Key key;
  Key parent;  ///< all zero: the key begins a chain
};

struct StockEntry {
  std::atomic<std::uint64_t> word;
  StockGrant grant;           ///< daemon, before it offers the entry
  std::uint8_t reserved[32];  ///< zero
  StockName name;             ///< client, while it has the entry
};
static_assert(sizeof(StockEntry) == 128 && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(offsetof(StockEntry, grant) == 8 && offsetof(StockEntry, name) == 64);

inline constexpr std::uint64_t kStockBytes = std::uint64_t{kStockEntries} * sizeof(StockEntry);

/// The table as both sides see it; each function says whose it is. Indices are below kStockEntries.
class Stock {
 public:
  Stock() = default;
  explicit Stock(std::byte* memory) : entries_(reinterpret_cast<StockEntry*>(memory)) {}

  // ---- daemon ----
  /// An empty entry.
  void offer(std::uint32_t entry, SpaceId space, const StockGrant& grant) {
    entries_[entry].grant = grant;
    Words::offer(entries_[entry].word, space);
  }
  /// An offer goes back, unless the client has it. Nobody wrote into the slot.
  bool take_back(std::uint32_t entry, SpaceId space) { return Words::take_back(entries_[entry].word, space); }
  /// Empties it, whoever has it.
  void clear(std::uint32_t entry) { Words::clear(entries_[entry].word); }
  /// Never offered, or taken back: for the adoption, whose predecessor may have died in between.
  [[nodiscard]] bool is_empty(std::uint32_t entry) const { return Words::is_empty(entries_[entry].word); }
  /// A copy of what the client wrote before it published the commit on the ring.
  [[nodiscard]] StockName name(std::uint32_t entry) const { return entries_[entry].name; }

  // ---- both ----
  [[nodiscard]] bool is_offered(std::uint32_t entry, SpaceId space) const {
    return Words::is_offered(entries_[entry].word, space);
  }
  [[nodiscard]] std::uint32_t offered_count(SpaceId space) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < kStockEntries; ++i) count += is_offered(i, space) ? 1 : 0;
    return count;
  }

  // ---- client ----
  /// True: the slot of this entry is the caller's, as if it had reserved it.
  bool take(std::uint32_t entry, SpaceId space) { return Words::take(entries_[entry].word, space); }
  /// Of an entry that the caller has.
  [[nodiscard]] StockGrant grant(std::uint32_t entry) const { return entries_[entry].grant; }
  void set_name(std::uint32_t entry, const StockName& name) { entries_[entry].name = name; }
  /// Nothing was written into the slot: it is on offer again, unless the daemon has cleared the entry meanwhile. The
  /// caller took it in the connection that is still the session's: nobody else can have taken it since.
  void put_back(std::uint32_t entry, SpaceId space) { Words::put_back(entries_[entry].word, space); }

 private:
  using Words = StockWord<SharedMemory>;

  StockEntry* entries_ = nullptr;
};

}  // namespace kvtier
