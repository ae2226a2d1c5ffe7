#pragma once
// When the directory of a namespace is made, when it grows, and who pays for it. How it grows: README.md.

#include "daemon/flow/state.h"

namespace kvtier {

Status directory_create(StoreState& state, Tenant& tenant);
/// Before the namespace gets `more` slots: begins to grow the directory if they fill it. Refused: they would not
/// find room, and it cannot grow.
Status directory_make_room(StoreState& state, Tenant& tenant, std::uint64_t more);

/// An insert does its part of a growth, so that the larger directory is complete before the old one is full.
/// kNoSpace: it could not grow.
[[nodiscard]] Code directory_insert(StoreState& state, Tenant& tenant, const EntryView& entry);
/// A step for one directory that grows. Returns 1 if there was one.
std::size_t directory_grow_step(StoreState& state);

/// What the directory says of a block now.
Residency directory_residency(const BlockRecord& record);
/// Of a block that is on disk only.
Residency directory_cold();

}  // namespace kvtier
