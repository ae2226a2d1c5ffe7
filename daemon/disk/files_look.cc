#include "daemon/disk/files_look.h"

#include "daemon/disk/scratch_arena.h"
#include "daemon/disk/store_look.h"
#include "daemon/io/ring_waiter.h"
#include "libkvclient/base/clock.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kSuperblocksBytes = kSuperblockCopies * std::uint64_t{kHeaderBytesMax};

DiskStoreOptions small(DiskStoreOptions options) {
  options.flushes_max = options.marks_max = 1;
  return options;
}

}  // namespace

Result<std::vector<PathFinding>> look_at_files(const DiskStoreOptions& options, std::unique_ptr<IoRing> ring,
                                               std::span<const StoreFile> files) {
  Result<std::unique_ptr<RingWaiter>> waiter = RingWaiter::create(*ring);
  if (!waiter.is_ok()) return waiter.status();
  ScratchArena arena(files.size() * (kSuperblocksBytes + SegmentSurvey::kScratchBytes));
  StoreShared shared(*ring, small(options), 1);
  std::vector<std::unique_ptr<StorePath>> paths;
  for (const StoreFile& file : files) {
    paths.push_back(std::make_unique<StorePath>(shared.io, file, shared.options, std::span<std::byte>{}));
    paths.back()->superblock_scratch = arena.take(kSuperblocksBytes);
    paths.back()->footer_scratch = arena.take(SegmentSurvey::kScratchBytes);
  }
  KV_RETURN_IF_ERROR(ring->set_region(options.scratch_region, arena.all()));
  StoreLook look(shared, paths);
  const SystemClock clock;
  while (!look.is_done()) {
    const std::uint64_t changes = shared.io.changes();
    std::size_t work = shared.io.poll(clock.now_ns());
    look.step(clock.now_ns());
    work += shared.io.poll(clock.now_ns());
    if (work == 0 && changes == shared.io.changes()) waiter.value()->wait(clock.now_ns(), kNever);
  }
  std::vector<PathFinding> findings;
  for (const auto& path : look.paths()) findings.push_back(path->finding());
  waiter = Status(Code::kStale, "it goes before its ring");
  ring.reset();  // before the memory that the device may still have
  return findings;
}

}  // namespace kvtier
