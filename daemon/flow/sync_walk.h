#pragma once
// The walk of a kSync over its blocks: what is put, and what became of it.

#include "daemon/flow/state.h"
#include "daemon/flow/sync_job.h"

namespace kvtier {

/// Of the target, as far as spaces go, whatever its state.
[[nodiscard]] bool sync_is_of(const SyncJob& job, const BlockRecord& record);
/// The first reason is the one that is told.
void sync_count_unsaved(SyncJob& job, Code code, Cause cause);
/// At most `looks_max` items. Returns how many were looked at; 0: it waits for the tier, or is over.
std::size_t sync_walk(StoreState& state, SyncJob& job, std::size_t looks_max);

}  // namespace kvtier
