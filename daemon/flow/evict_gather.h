#pragma once
// The victims of one eviction pass: which blocks, in which order, at which cost.

#include <span>

#include "daemon/flow/evict.h"

namespace kvtier {

/// Takes up to request.count blocks to kEvicting (evict_begin), children before their parents; what cannot leave moves
/// to the hot end. The span is valid until the next pass.
std::span<const BlockId> evict_gather(StoreState& state, const EvictRequest& request, EvictPass& pass);

}  // namespace kvtier
