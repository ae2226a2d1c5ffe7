#include "daemon/tier/disk_counters.h"

namespace kvtier {
namespace {

std::uint64_t written(const DiskSnapshot& view, WriteCause cause) {
  return view.stats.bytes_written[static_cast<std::size_t>(cause)];
}

std::uint64_t faults(const DiskSnapshot& view, DiskFault fault) {
  return view.stats.faults[static_cast<std::size_t>(fault)];
}

template <class Member>
std::uint64_t sum_of(const DiskSnapshot& view, Member member) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < view.path_count; ++i) sum += view.paths[i].*member;
  return sum;
}

std::uint64_t paths_ok(const DiskSnapshot& view) {
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < view.path_count; ++i) count += view.paths[i].state == PathState::kOk ? 1 : 0;
  return view.state == NvmeTierState::kServing ? count : 0;
}

void publish_state(const DiskSnapshot& view, Counters& c) {
  c.set(Counter::kNvmePaths, view.path_count);
  c.set(Counter::kNvmePathsOk, paths_ok(view));
  c.set(Counter::kNvmeSegments, sum_of(view, &DiskPathSnapshot::segments));
  c.set(Counter::kNvmeSegmentsFree, sum_of(view, &DiskPathSnapshot::segments_free));
  c.set(Counter::kNvmeUsedBytes, sum_of(view, &DiskPathSnapshot::used_bytes));
  c.set(Counter::kNvmeLiveBytes, sum_of(view, &DiskPathSnapshot::live_bytes));
  c.set(Counter::kNvmeRegisteredBytes, view.registered_bytes);
  c.set(Counter::kNvmeBudgetTakenBytes, view.budget_taken_bytes);
  c.set(Counter::kNvmePutsWaiting, view.puts_waiting);
  c.set(Counter::kNvmeGetsWaiting, view.gets_waiting);
  c.set(Counter::kNvmeRequestsHeld, view.requests_held);
  c.set(Counter::kNvmeRecoveryDone, view.recovery_done);
  c.set(Counter::kNvmeRecoveryTotal, view.recovery_total);
}

void publish_work(const DiskSnapshot& view, Counters& c) {
  c.set(Counter::kNvmePuts, view.stats.puts);
  c.set(Counter::kNvmePutsFailed, view.stats.puts_failed);
  c.set(Counter::kNvmePutsRefused, view.stats.puts_refused);
  c.set(Counter::kNvmePutsOverBudget, view.puts_over_budget);
  c.set(Counter::kNvmePutBytes, view.stats.put_bytes);
  c.set(Counter::kNvmeGets, view.stats.gets);
  c.set(Counter::kNvmeGetsOk, view.stats.gets_ok);
  c.set(Counter::kNvmeGetsStale, view.stats.gets_stale);
  c.set(Counter::kNvmeGetsLate, view.stats.gets_late);
  c.set(Counter::kNvmeGetsUnavailable, view.stats.gets_unavailable);
  c.set(Counter::kNvmeGetBytes, view.stats.get_bytes);
  c.set(Counter::kNvmeFlushes, view.stats.flushes);
  c.set(Counter::kNvmeMarks, view.stats.marks);
}

void publish_requests(const DiskSnapshot& view, Counters& c) {
  c.set(Counter::kNvmeWrittenPayloads, written(view, WriteCause::kPayloads));
  c.set(Counter::kNvmeWrittenHeaders, written(view, WriteCause::kHeaders));
  c.set(Counter::kNvmeWrittenMarks, written(view, WriteCause::kMarks));
  c.set(Counter::kNvmeWrittenMoves, written(view, WriteCause::kMoves));
  c.set(Counter::kNvmeWrittenSegments, written(view, WriteCause::kSegments));
  c.set(Counter::kNvmeWrittenFooters, written(view, WriteCause::kFooters));
  c.set(Counter::kNvmeWrittenErasures, written(view, WriteCause::kErasures));
  c.set(Counter::kNvmeWrittenSuperblocks, written(view, WriteCause::kSuperblocks));
  c.set(Counter::kNvmeWrittenProbes, written(view, WriteCause::kProbes));
  c.set(Counter::kNvmeWrites, view.stats.writes);
  c.set(Counter::kNvmeReads, view.stats.reads);
  c.set(Counter::kNvmeReadBytes, view.stats.bytes_read);
  c.set(Counter::kNvmeSyncs, view.stats.syncs_done);
  c.set(Counter::kNvmeIoFailed, view.stats.io_failed);
  c.set(Counter::kNvmeIoLate, view.stats.io_late);
  c.set(Counter::kNvmeIoSplit, view.stats.io_split);
}

void publish_faults(const DiskSnapshot& view, Counters& c) {
  c.set(Counter::kNvmeFaultTruncated, faults(view, DiskFault::kTruncated));
  c.set(Counter::kNvmeFaultEmpty, faults(view, DiskFault::kEmpty));
  c.set(Counter::kNvmeFaultForeign, faults(view, DiskFault::kForeign));
  c.set(Counter::kNvmeFaultHeaderDamaged, faults(view, DiskFault::kHeaderDamaged));
  c.set(Counter::kNvmeFaultVersion, faults(view, DiskFault::kVersion));
  c.set(Counter::kNvmeFaultOtherStore, faults(view, DiskFault::kOtherStore));
  c.set(Counter::kNvmeFaultMisplaced, faults(view, DiskFault::kMisplaced));
  c.set(Counter::kNvmeFaultStale, faults(view, DiskFault::kStale));
  c.set(Counter::kNvmeFaultMalformed, faults(view, DiskFault::kMalformed));
  c.set(Counter::kNvmeFaultOtherBlock, faults(view, DiskFault::kOtherBlock));
  c.set(Counter::kNvmeFaultPayloadDamaged, faults(view, DiskFault::kPayloadDamaged));
  c.set(Counter::kNvmeFaultIndexDamaged, faults(view, DiskFault::kIndexDamaged));
}

void publish_segments(const DiskSnapshot& view, Counters& c) {
  c.set(Counter::kNvmeSegmentsSealed, view.stats.segments_sealed);
  c.set(Counter::kNvmeSegmentsReclaimed, view.stats.segments_reclaimed);
  c.set(Counter::kNvmeBlocksMoved, view.stats.blocks_moved);
  c.set(Counter::kNvmeBlocksDropped, view.stats.blocks_dropped);
  c.set(Counter::kNvmeBlocksDead, view.stats.blocks_dead);
  c.set(Counter::kNvmeRecoveredBlocks, view.stats.recovered_blocks);
  c.set(Counter::kNvmeRecoveredVoid, view.stats.recovered_void);
  c.set(Counter::kNvmeRecoveredUnknown, view.unknown_entries);
  c.set(Counter::kNvmeRecoveredFooters, view.stats.recovered_footers);
  c.set(Counter::kNvmeRecoveredScans, view.stats.recovered_scans);
  c.set(Counter::kNvmeRecoveredDropped, view.stats.recovered_dropped);
  c.set(Counter::kNvmeSpacesFailed, view.spaces_failed);
}

}  // namespace

static_assert(kWriteCauseCount == 9 && kDiskFaultCount == 13, "a counter for each cause and each fault");

void publish_disk_counters(const DiskSnapshot& view, Counters& counters) {
  publish_state(view, counters);
  publish_work(view, counters);
  publish_requests(view, counters);
  publish_faults(view, counters);
  publish_segments(view, counters);
}

}  // namespace kvtier
