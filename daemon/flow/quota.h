#pragma once
// A namespace's limit, changed while it is in use. A larger one counts from the next reservation on. Under a
// smaller one the namespace gets no further slab, and gives up those beyond it one after another, coldest blocks
// first; a slab with a leased or pinned block, or one being written, stays until it has none.

#include <string_view>

#include "daemon/flow/state.h"

namespace kvtier {

/// Nothing happens for a namespace that nobody has used yet: it begins with the limit that its first client has.
void quota_set(StoreState& state, std::string_view name, std::uint64_t bytes_max);
/// Takes one slab from each namespace beyond its limit; returns how many.
std::size_t quota_step(StoreState& state);

}  // namespace kvtier
