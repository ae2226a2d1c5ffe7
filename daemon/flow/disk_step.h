#pragma once
// The turn of the NVMe tier: its news is taken, what is due is sent.

#include "daemon/flow/state.h"

namespace kvtier {

/// A bounded piece; returns the work done. Nothing without a disk.
std::size_t disk_step(StoreState& state);
/// When there is something to do without further input; kNever.
[[nodiscard]] TimeNs disk_next_ns(const StoreState& state);

}  // namespace kvtier
