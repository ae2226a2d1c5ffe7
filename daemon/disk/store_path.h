#pragma once
// What the jobs of a store share: of each path, and of the whole. Thread: the store's.

#include <memory>
#include <span>
#include <vector>

#include "daemon/disk/disk_event.h"
#include "daemon/disk/format_order.h"
#include "daemon/disk/mark_set.h"
#include "daemon/disk/path_health.h"
#include "daemon/disk/path_sync.h"
#include "daemon/disk/segment_table.h"

namespace kvtier {

/// A path and its memory, all of it taken at construction.
struct StorePath {
  StorePath(DiskIo& io, const StoreFile& opened, const DiskStoreOptions& options, std::span<std::byte> unit)
      : file(opened),
        sync(io, opened.file, options.io_deadline_ns, options.syncs_left_out),
        health(io, opened.file, options, unit) {}

  const StoreFile file;
  PathSync sync;
  PathHealth health;
  std::span<std::byte> superblock_scratch;  ///< kSuperblockCopies units
  std::span<std::byte> footer_scratch;      ///< kIndexBytesMax and a unit
  // known once its superblock was chosen
  std::uint32_t number = 0;
  SegmentGeometry geometry;
  StoreId store{};
  SegmentTable segments;
  // puts that were answered, and those of them that a flush has told about
  std::uint64_t answered = 0;
  std::uint64_t flushed = 0;

  [[nodiscard]] SegmentContext context(std::uint32_t segment) const {
    const SegmentRow& row = segments[segment];
    return {{store, number, segment, row.generation, row.epoch}, geometry};
  }
};

/// What the whole store has one of.
struct StoreShared {
  StoreShared(IoRing& ring, const DiskStoreOptions& given, std::size_t events_max)
      : options(given),
        io(ring, stats),
        events(events_max),
        budget(given.budget),
        marks(given.marks_max, given.flushes_max) {}

  const DiskStoreOptions options;
  DiskStats stats;
  DiskIo io;
  DiskEvents events;
  WriteBudget budget;
  MarkSet marks;  ///< durable ones
  std::uint64_t epoch = 0;
  std::uint64_t sequence_count = 0;  ///< used in this epoch
  std::uint64_t generation = 0;      ///< the last given out
  std::uint32_t paths_given_up = 0;  ///< by this start
  bool is_path_missing = false;      ///< of the store: marks stay for what lies there

  std::uint64_t next_sequence() { return sequence_number(epoch, ++sequence_count); }
};

/// A request of the store's own memory.
inline IoRequest scratch_request(const StoreShared& shared, IoKind kind, const StorePath& path,
                                 std::uint64_t offset, std::span<std::byte> memory, TimeNs now_ns) {
  return {.kind = kind,
          .file = path.file.file,
          .region = shared.options.scratch_region,
          .bytes = static_cast<std::uint32_t>(memory.size()),
          .offset = offset,
          .data = memory.data(),
          .deadline_ns = now_ns + shared.options.io_deadline_ns};
}

}  // namespace kvtier
