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

namespace kvtier {

inline constexpr std::uint32_t kStockEntries = 64;

enum class StockState : std::uint32_t {
  kEmpty = 0,    ///< the daemon's: nothing in it
  kOffered = 1,  ///< both may take it
  kTaken = 2,    ///< the client's, until it commits or aborts the hold
};

/// The space that the slot is for, and the state: all that a taker must know before it has the entry. What else an
/// entry says is read after that, when nobody writes it, so that an old word that comes again does no harm.
constexpr std::uint64_t stock_word(SpaceId space, StockState state) {
  return static_cast<std::uint64_t>(space) << 32 | static_cast<std::uint32_t>(state);
}

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
  /// An empty entry. release: the grant is there when a taker sees the offer.
  void offer(std::uint32_t entry, SpaceId space, const StockGrant& grant) {
    entries_[entry].grant = grant;
    entries_[entry].word.store(stock_word(space, StockState::kOffered), std::memory_order_release);
  }
  /// An offer goes back, unless the client has it. Nobody wrote into the slot. relaxed: nothing is read.
  bool take_back(std::uint32_t entry, SpaceId space) {
    std::uint64_t word = stock_word(space, StockState::kOffered);
    return entries_[entry].word.compare_exchange_strong(word, 0, std::memory_order_relaxed);
  }
  /// Empties it, whoever has it. relaxed: as above.
  void clear(std::uint32_t entry) { entries_[entry].word.store(0, std::memory_order_relaxed); }
  /// Never offered, or taken back: for the adoption, whose predecessor may have died in between.
  [[nodiscard]] bool is_empty(std::uint32_t entry) const {
    return entries_[entry].word.load(std::memory_order_relaxed) == 0;
  }
  /// A copy of what the client wrote before it published the commit on the ring.
  [[nodiscard]] StockName name(std::uint32_t entry) const { return entries_[entry].name; }

  // ---- both ----
  [[nodiscard]] bool is_offered(std::uint32_t entry, SpaceId space) const {
    // relaxed: a hint; take() decides
    return entries_[entry].word.load(std::memory_order_relaxed) == stock_word(space, StockState::kOffered);
  }
  [[nodiscard]] std::uint32_t offered_count(SpaceId space) const {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < kStockEntries; ++i) count += is_offered(i, space) ? 1 : 0;
    return count;
  }

  // ---- client ----
  /// True: the slot of this entry is the caller's, as if it had reserved it. acquire: the grant that offer() stored.
  bool take(std::uint32_t entry, SpaceId space) {
    std::uint64_t word = stock_word(space, StockState::kOffered);
    return entries_[entry].word.compare_exchange_strong(word, stock_word(space, StockState::kTaken),
                                                        std::memory_order_acquire, std::memory_order_relaxed);
  }
  /// Of an entry that the caller has.
  [[nodiscard]] StockGrant grant(std::uint32_t entry) const { return entries_[entry].grant; }
  void set_name(std::uint32_t entry, const StockName& name) { entries_[entry].name = name; }
  /// Nothing was written into the slot: it is on offer again, unless the daemon has cleared the entry meanwhile. The
  /// caller took it in the connection that is still the session's: nobody else can have taken it since.
  /// release: the next taker's acquire, with the grant, which is the same.
  void put_back(std::uint32_t entry, SpaceId space) {
    std::uint64_t word = stock_word(space, StockState::kTaken);
    entries_[entry].word.compare_exchange_strong(word, stock_word(space, StockState::kOffered),
                                                 std::memory_order_release, std::memory_order_relaxed);
  }

 private:
  StockEntry* entries_ = nullptr;
};

}  // namespace kvtier
