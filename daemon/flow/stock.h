#pragma once
// Stocks: slots granted to a session ahead of need, without a key (wire/stock.h, DESIGN 4). A stocked slot is a block
// record in state kStocked, on its session's list of what it writes; `stock_entry` says where. It gets its key with the
// commit. What the client has not taken comes back here at any time, without asking it.

#include "daemon/flow/state.h"

namespace kvtier {

static_assert(kStockEntries <= 256, "BlockRecord::stock_entry holds it");

inline Stock stock_of(const Session& session) {
  return Stock(session.channel.data() + ChannelLayout::kStock);
}

/// kStock: brings the offers for a space up to `count`, as far as the caps and free or coldest slots allow; asks no
/// other writer for anything.
void stock_refill(StoreState& state, Session& session, SpaceId space, std::uint32_t count);

/// A filled slot of the stock gets the key that its entry names, and is a block being written from here on. Else the
/// slot is given back: kExists, kPending: another client was first; kInvalid: no key; kNoSpace: the index is full.
Code stock_name(StoreState& state, Session& session, BlockId id);

/// Memory is short in the namespace: all its offers come back. Returns how many.
std::uint32_t stock_take_back(StoreState& state, Tenant& tenant);
/// The offers in one slab, if nothing else is being written in it. True: nothing is any more.
bool stock_leaves_slab(StoreState& state, Slab& slab);

/// The slot must not be filled any more (invalidation, the session's end): back if it is on offer, else quarantined.
void stock_withdraw(StoreState& state, Session& session, BlockId id);
/// It is no stock any more, whatever becomes of the slot.
void stock_forget(StoreState& state, Session& session, BlockId id);

}  // namespace kvtier
