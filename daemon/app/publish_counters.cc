#include "daemon/app/publish_counters.h"

#include <algorithm>

#include "daemon/flow/admin.h"
#include "daemon/flow/stats.h"

namespace kvtier {
namespace {

void publish_store(const StoreStats& s, Counters& c) {
  c.set(Counter::kHostBytes, s.host_bytes);
  c.set(Counter::kHostBytesHuge, s.host_bytes_huge);
  c.set(Counter::kHostBytesLocked, s.host_bytes_locked);
  c.set(Counter::kMetadataBytes, s.metadata_bytes);
  c.set(Counter::kPolicyBytes, s.policy_bytes);
  c.set(Counter::kChannelBytes, s.channel_bytes);
  c.set(Counter::kSlabsTotal, s.slabs_total);
  c.set(Counter::kSlabsAssigned, s.slabs_assigned);
  c.set(Counter::kSlabLends, s.slab_lends);
  c.set(Counter::kSlabRevokes, s.slab_revokes);
  c.set(Counter::kSlabReshapes, s.slab_reshapes);
  c.set(Counter::kSlabRetirements, s.slab_retirements);
  c.set(Counter::kBlocksReady, s.blocks_ready);
  c.set(Counter::kBlocksWriting, s.blocks_writing);
  c.set(Counter::kBlocksDraining, s.blocks_draining);
  c.set(Counter::kBlocksPinned, s.blocks_pinned);
  c.set(Counter::kBlocksUnsummed, s.blocks_unsummed);
  c.set(Counter::kDirectoryEntries, s.directory_entries);
  c.set(Counter::kDirectoryCapacity, s.directory_capacity);
  c.set(Counter::kDirectoryBytesHuge, s.directory_bytes_huge);
  c.set(Counter::kDirectoryGrows, s.directory_grows);
  c.set(Counter::kNamespaces, s.namespaces);
  c.set(Counter::kSpaces, s.spaces);
  c.set(Counter::kSlotsFree, s.slots_free);
  c.set(Counter::kSlotsQuarantined, s.slots_quarantined);
  c.set(Counter::kSlotsStocked, s.slots_stocked);
  c.set(Counter::kBlocksAdopted, s.blocks_adopted);
  c.set(Counter::kAdoptionDropped, s.adoption_dropped);
  const std::uint64_t slots = s.blocks_ready + s.blocks_writing + s.blocks_draining + s.slots_free +
                              s.slots_quarantined + s.slots_stocked;
  c.set(Counter::kIndexBytesPerBlock, s.metadata_bytes / std::max<std::uint64_t>(slots, 1));
}

void publish_flow(const StoreStats& s, Counters& c) {
  c.set(Counter::kReserveNew, s.reserve_new);
  c.set(Counter::kReserveExists, s.reserve_exists);
  c.set(Counter::kReservePending, s.reserve_pending);
  c.set(Counter::kReservesDeferred, s.reserves_deferred);
  c.set(Counter::kNoSpaceFull, s.no_space_full);
  c.set(Counter::kNoSpacePinned, s.no_space_pinned);
  c.set(Counter::kNoSpaceQuota, s.no_space_quota);
  c.set(Counter::kNoSpaceWriterBusy, s.no_space_writer_busy);
  c.set(Counter::kNoSpaceOther, s.no_space_other);
  c.set(Counter::kStockGrants, s.stock_grants);
  c.set(Counter::kStockReturns, s.stock_returns);
  c.set(Counter::kStockRacesLost, s.stock_races_lost);
  c.set(Counter::kCommits, s.commits);
  c.set(Counter::kCommittedBytes, s.committed_bytes);
  c.set(Counter::kCommitsRefused, s.commits_refused);
  c.set(Counter::kAborts, s.aborts);
  c.set(Counter::kAbortsByExit, s.aborts_by_exit);
  c.set(Counter::kWaitsOpen, s.waits_open);
  c.set(Counter::kEvictions, s.evictions);
  c.set(Counter::kEvictionsInvalidated, s.evictions_invalidated);
  c.set(Counter::kEvictionsRequested, s.evictions_requested);
  c.set(Counter::kEvictPutBack, s.evict_put_back);
  c.set(Counter::kEvictScanned, s.evict_scanned);
  c.set(Counter::kGhostHits, s.ghost_hits);
  c.set(Counter::kHitsHost, s.hits_host);
  c.set(Counter::kAccessRecords, s.access_records);
  c.set(Counter::kAccessRecordsLost, s.access_records_lost);
  c.set(Counter::kAccessRecordsInvalid, s.access_records_invalid);
  c.set(Counter::kChecksums, s.checksums);
  c.set(Counter::kChecksumFailures, s.checksum_failures);
  c.set(Counter::kBlocksDoubted, s.blocks_doubted);
  c.set(Counter::kBlocksCorrupt, s.blocks_corrupt);
}

void publish_disk(const StoreStats& s, Counters& c) {
  c.set(Counter::kBlocksCold, s.blocks_cold);
  c.set(Counter::kBlocksRestoring, s.blocks_restoring);
  c.set(Counter::kDiskBytesWriting, s.disk_bytes_writing);
  c.set(Counter::kDiskBytesReading, s.disk_bytes_reading);
  c.set(Counter::kHitsDisk, s.hits_disk);
  c.set(Counter::kDemotions, s.demotions);
  c.set(Counter::kDemotedBytes, s.demoted_bytes);
  c.set(Counter::kDemotionsFailed, s.demotions_failed);
  c.set(Counter::kRestores, s.restores);
  c.set(Counter::kRestoresFailed, s.restores_failed);
  c.set(Counter::kRestoredBytes, s.restored_bytes);
  c.set(Counter::kEvictionsUnsaved, s.evictions_unsaved);
  c.set(Counter::kEvictionsNotAdmitted, s.evictions_not_admitted);
  c.set(Counter::kColdDropped, s.cold_dropped);
  c.set(Counter::kSyncs, s.syncs);
  c.set(Counter::kSyncsIncomplete, s.syncs_incomplete);
  c.set(Counter::kIndexDrops, s.index_drops);
  c.set(Counter::kDiskLost, s.disk_lost);
  c.set(Counter::kDiskRecovered, s.disk_recovered);
  c.set(Counter::kDiskRefused, s.disk_refused);
}

void publish_sessions(const StoreStats& s, const SessionStats& sessions, Counters& c) {
  c.set(Counter::kSessions, s.sessions - s.zombies);
  c.set(Counter::kZombies, s.zombies);
  c.set(Counter::kZombieBytes, s.zombie_bytes);
  c.set(Counter::kSessionsKicked, s.sessions_kicked);
  c.set(Counter::kSessionsOpened, s.sessions_opened);
  c.set(Counter::kSessionsResumed, s.sessions_resumed);
  c.set(Counter::kProtocolErrors, s.protocol_errors);
  c.set(Counter::kSessionsRefused, sessions.hellos_refused);
  c.set(Counter::kCommands, sessions.submissions);
  c.set(Counter::kConductorWakeups, sessions.sleeps);
}

}  // namespace

void publish_load(const AgentLoad& load, TimeNs now_ns, Counters& counters) {
  counters.set(Counter::kConductorRounds, load.rounds.load(std::memory_order_relaxed));
  counters.set(Counter::kConductorWorkNs, load.work_ns.load(std::memory_order_relaxed));
  const TimeNs started_ns = counters.header().start_monotonic_ns;
  counters.set(Counter::kUptimeSeconds, (now_ns - std::min(started_ns, now_ns)) / kNsPerSecond);
}

void publish_counters(const Store& store, Conductor& conductor, Counters& counters) {
  const StoreStats& stats = store.stats();
  publish_store(stats, counters);
  publish_flow(stats, counters);
  publish_disk(stats, counters);
  publish_sessions(stats, conductor.stats(), counters);
}

}  // namespace kvtier
