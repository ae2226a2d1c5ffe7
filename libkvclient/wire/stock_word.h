#pragma once
// Who has an entry of a stock: one word. A template over a Memory, as all shared-memory protocols (order_sites.h); what
// the entry says beside the word, the grant and the name, is plain memory of whoever has it.

#include <cstdint>

#include "libkvclient/wire/order_sites.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

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

template <class Memory>
struct StockWord {
  using Word = typename Memory::Cell64;

  // ---- daemon ----
  /// An empty entry. release: the grant is there when a taker sees the offer.
  static void offer(Word& word, SpaceId space) {
    Memory::store(word, stock_word(space, StockState::kOffered), at<Site::kStockOffer>);
  }
  /// acquire: a client that took the entry and put it back has read the grant before the next one is written.
  static bool take_back(Word& word, SpaceId space) {
    return Memory::compare_exchange(word, stock_word(space, StockState::kOffered), 0,
                                    at<Site::kStockTakeBack>);
  }
  /// relaxed: who has it said so on the ring, or is gone.
  static void clear(Word& word) { Memory::store(word, 0, at<Site::kStockClear>); }
  static bool is_empty(const Word& word) { return Memory::load(word, at<Site::kStockLook>) == 0; }

  // ---- both ----
  /// relaxed: a hint; take() decides.
  static bool is_offered(const Word& word, SpaceId space) {
    return Memory::load(word, at<Site::kStockLook>) == stock_word(space, StockState::kOffered);
  }

  // ---- client ----
  /// acquire: the grant that offer() stored.
  static bool take(Word& word, SpaceId space) {
    return Memory::compare_exchange(word, stock_word(space, StockState::kOffered),
                                    stock_word(space, StockState::kTaken), at<Site::kStockTake>);
  }
  /// release: what this thread read and wrote in the entry is over for the next one that has it.
  static void put_back(Word& word, SpaceId space) {
    (void)Memory::compare_exchange(word, stock_word(space, StockState::kTaken),
                                   stock_word(space, StockState::kOffered), at<Site::kStockPutBack>);
  }
};

}  // namespace kvtier
