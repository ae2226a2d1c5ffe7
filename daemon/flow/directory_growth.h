#pragma once
// The directory of a namespace: created with it, and grown when slabs bring more slots than it has room for.
// Growth is a new memfd: it is filled, the old one is marked moved, and each client swaps when it is told.

#include "daemon/flow/state.h"

namespace kvtier {

Status directory_create(StoreState& state, Tenant& tenant, std::uint64_t blocks);
/// Room for `more` slots beside those that the namespace has.
Status directory_make_room(StoreState& state, Tenant& tenant, std::uint64_t more);

/// What the directory says of a block now.
Residency directory_residency(const BlockRecord& record);

}  // namespace kvtier
