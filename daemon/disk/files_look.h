#pragma once
// What the files of a store hold, before any of them is resized or written: StoreLook over a ring of its own.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/path_finding.h"
#include "daemon/io/io_ring.h"

namespace kvtier {

/// One a file, in their order. `ring` has the files on its table, and a region free at `options.scratch_region`. Of the
/// options the new store's geometry and the deadline count. Waits for the devices. Fails as the ring does.
Result<std::vector<PathFinding>> look_at_files(const DiskStoreOptions& options, std::unique_ptr<IoRing> ring,
                                               std::span<const StoreFile> files);

}  // namespace kvtier
