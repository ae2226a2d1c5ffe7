#pragma once
// What the files of a store hold, before any of them is resized or written: StoreLook over a ring of its own.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/store_choice.h"
#include "daemon/io/io_ring.h"

namespace kvtier {

struct FileLook {
  Status status;  ///< not ok: it could not be read, and the store may open without it
  PathFinding finding;
};

/// One a file, in their order. `ring` has the files on its table, and a region free at `options.scratch_region`. Of the
/// options the new store's geometry and the deadline count. Waits for the devices. Failures, which mean that nothing may
/// be changed: StoreLook's, and the ring's.
Result<std::vector<FileLook>> look_at_files(const DiskStoreOptions& options, std::unique_ptr<IoRing> ring,
                                            std::span<const StoreFile> files);

}  // namespace kvtier
