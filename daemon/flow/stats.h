#pragma once
// Plain numbers of the store, kept by the conductor; observe publishes them. Counters only rise; gauges are
// now.

#include <cstdint>

namespace kvtier {

struct StoreStats {
  // gauges
  std::uint64_t host_bytes = 0;         ///< payload memory of the host tier, all slabs
  std::uint64_t host_bytes_huge = 0;    ///< of it, in huge pages
  std::uint64_t host_bytes_locked = 0;  ///< of it, locked against swap
  std::uint64_t metadata_bytes = 0;     ///< directories, slot tables, block table, index: resident
  std::uint64_t policy_bytes = 0;       ///< what evictors know of blocks that are there or left
  std::uint64_t channel_bytes = 0;      ///< rings, arenas and pin tables of all clients: resident
  std::uint64_t blocks_ready = 0;
  std::uint64_t blocks_writing = 0;
  std::uint64_t blocks_draining = 0;  ///< unpublished, still leased
  std::uint64_t slots_free = 0;
  std::uint64_t slots_quarantined = 0;
  std::uint64_t slots_stocked = 0;  ///< in clients' stocks, on offer or taken
  std::uint64_t slabs_total = 0;
  std::uint64_t slabs_assigned = 0;
  std::uint64_t sessions = 0;
  std::uint64_t zombies = 0;
  std::uint64_t blocks_pinned = 0;  ///< by kPin, not leases
  std::uint64_t waits_open = 0;
  std::uint64_t reserves_deferred = 0;
  std::uint64_t blocks_unsummed = 0;  ///< a checksum is due
  std::uint64_t directory_entries = 0;
  std::uint64_t directory_capacity = 0;
  std::uint64_t directory_bytes_huge = 0;
  std::uint64_t namespaces = 0;
  std::uint64_t spaces = 0;
  std::uint64_t zombie_bytes = 0;        ///< slabs that zombies may write
  std::uint64_t blocks_cold = 0;         ///< on disk only
  std::uint64_t blocks_restoring = 0;    ///< being read from disk
  std::uint64_t disk_bytes_writing = 0;  ///< slots of puts that are not answered
  std::uint64_t disk_bytes_reading = 0;  ///< of gets
  // counters
  std::uint64_t reserve_new = 0;
  std::uint64_t reserve_exists = 0;
  std::uint64_t reserve_pending = 0;
  std::uint64_t no_space_full = 0;
  std::uint64_t no_space_pinned = 0;
  std::uint64_t no_space_quota = 0;
  std::uint64_t no_space_writer_busy = 0;
  std::uint64_t no_space_other = 0;
  std::uint64_t stock_grants = 0;
  std::uint64_t stock_returns = 0;     ///< taken back before they were used
  std::uint64_t stock_races_lost = 0;  ///< commits of a slot of the stock whose key another client had
  std::uint64_t commits = 0;
  std::uint64_t committed_bytes = 0;
  std::uint64_t commits_refused = 0;
  std::uint64_t aborts = 0;
  std::uint64_t aborts_by_exit = 0;
  std::uint64_t evictions = 0;
  std::uint64_t evictions_invalidated = 0;
  std::uint64_t evictions_requested = 0;  ///< kvctl evict, flush
  std::uint64_t evict_put_back = 0;       ///< a lease was found: the block stayed
  std::uint64_t evict_scanned = 0;
  std::uint64_t ghost_hits = 0;  ///< blocks that came back while their class still knew of them
  std::uint64_t access_records = 0;
  std::uint64_t access_records_lost = 0;
  std::uint64_t access_records_invalid = 0;
  std::uint64_t hits_host = 0;  ///< blocks acquired, by the access log
  std::uint64_t hits_disk = 0;  ///< blocks restored from disk because a client asked
  std::uint64_t slab_lends = 0;
  std::uint64_t slab_revokes = 0;
  std::uint64_t slab_reshapes = 0;
  std::uint64_t slab_retirements = 0;
  std::uint64_t protocol_errors = 0;
  std::uint64_t sessions_opened = 0;
  std::uint64_t sessions_resumed = 0;
  std::uint64_t sessions_kicked = 0;
  std::uint64_t blocks_adopted = 0;
  std::uint64_t adoption_dropped = 0;
  std::uint64_t slabs_emptied = 0;  ///< for another slot size or namespace
  std::uint64_t directory_grows = 0;
  std::uint64_t directory_grows_failed = 0;
  std::uint64_t checksums = 0;
  std::uint64_t checksum_failures = 0;
  std::uint64_t blocks_doubted = 0;  ///< clients found them wrong: summed again
  std::uint64_t blocks_corrupt = 0;  ///< of them, and of those restored since, those that were: taken out
  std::uint64_t demotions = 0;       ///< blocks written to disk
  std::uint64_t demoted_bytes = 0;
  std::uint64_t demotions_failed = 0;
  std::uint64_t restores = 0;  ///< restores begun
  std::uint64_t restores_failed = 0;
  std::uint64_t restored_bytes = 0;
  std::uint64_t evictions_unsaved =
      0;  ///< with a disk: blocks that left for good, because they were not on it
  std::uint64_t evictions_not_admitted =
      0;                               ///< of them, those that were not worth what the write budget has left
  std::uint64_t cold_dropped = 0;      ///< blocks on disk only that gave way to others
  std::uint64_t syncs = 0;             ///< that ended
  std::uint64_t syncs_incomplete = 0;  ///< of them, those that were not told that all is on disk
  std::uint64_t index_drops = 0;       ///< blocks on disk that the index had no names for: given up
  std::uint64_t disk_lost = 0;         ///< copies that the tier gave up or could not read
  std::uint64_t disk_recovered = 0;    ///< blocks of an earlier life found on disk
  std::uint64_t disk_refused = 0;      ///< of them, not taken: no room, or a spec that is not known
};

}  // namespace kvtier
