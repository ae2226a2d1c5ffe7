#pragma once
// kvc_reserve without claim: slots that the daemon granted ahead of need (wire/stock.h).

#include "libkvclient/src/handles.h"

namespace kvtier::client {

/// What a call without claim found, and what it takes a refill to be asked for.
struct StockOutcome {
  bool is_answered = false;  ///< every slot has its code; else nothing was taken, claim instead
  std::uint32_t missing =
      0;  ///< keys that are neither there nor pending; kStockEntries + 1: more than a stock holds
  bool is_over = false;  ///< the deadline passed before all keys were looked up; nothing was taken
};

/// Answers from the directory and the stock, without a message. `slots` is filled in only where it is answered.
StockOutcome stock_reserve(Space& space, const BoundLink& bound, const Key& parent, std::span<const Key> keys,
                           TimeNs deadline_ns, std::span<kvc_slot> slots);
/// Asks for a refill if the stock is low and none is under way. Waits for nothing: a full ring is asked another time.
void stock_refill(Space& space, const BoundLink& bound, const StockOutcome& outcome);

}  // namespace kvtier::client
