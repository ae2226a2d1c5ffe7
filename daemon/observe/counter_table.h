#pragma once
// Every counter, one row: KV_COUNTER(id, writer, kind, name, unit, help). `name` is `id` in snake case; a
// test checks that. Rows may move: readers go by name. `writer` is the one agent that stores it. Rows with
// the name of a StoreStats member are published from there.

// clang-format off
#define KV_COUNTER_TABLE(KV_COUNTER)                                                                                  \
  /* memory of the host tier */                                                                                       \
  KV_COUNTER(kHostBytes, kConductor, kGauge, "host_bytes", "bytes", "Payload memory of the host tier, all slabs.")     \
  KV_COUNTER(kHostBytesHuge, kConductor, kGauge, "host_bytes_huge", "bytes", "Host tier memory in huge pages.")        \
  KV_COUNTER(kHostBytesLocked, kConductor, kGauge, "host_bytes_locked", "bytes", "Host tier memory locked against swap.") \
  KV_COUNTER(kMetadataBytes, kConductor, kGauge, "metadata_bytes", "bytes", "Directories, slot tables, block table, index and tree, resident.") \
  KV_COUNTER(kIndexBytesPerBlock, kConductor, kGauge, "index_bytes_per_block", "bytes", "metadata_bytes divided by the blocks it is sized for.") \
  KV_COUNTER(kChannelBytes, kConductor, kGauge, "channel_bytes", "bytes", "Rings, arenas and pin tables of all clients, resident.") \
  KV_COUNTER(kSlabsTotal, kConductor, kGauge, "slabs_total", "slabs", "Slabs of the host tier.")                       \
  KV_COUNTER(kSlabsAssigned, kConductor, kGauge, "slabs_assigned", "slabs", "Slabs that belong to a namespace.")       \
  KV_COUNTER(kSlabLends, kConductor, kCounter, "slab_lends", "slabs", "Slabs lent to a writer.")                       \
  KV_COUNTER(kSlabRevokes, kConductor, kCounter, "slab_revokes", "slabs", "Slabs asked back from a writer.")           \
  KV_COUNTER(kSlabReshapes, kConductor, kCounter, "slab_reshapes", "slabs", "Slabs that changed their slot size.")     \
  KV_COUNTER(kSlabRetirements, kConductor, kCounter, "slab_retirements", "slabs", "Slabs given back to the host, to change namespace.") \
  /* blocks and slots */                                                                                              \
  KV_COUNTER(kBlocksReady, kConductor, kGauge, "blocks_ready", "blocks", "Blocks that clients can acquire.")           \
  KV_COUNTER(kBlocksWriting, kConductor, kGauge, "blocks_writing", "blocks", "Blocks reserved and not committed.")     \
  KV_COUNTER(kBlocksDraining, kConductor, kGauge, "blocks_draining", "blocks", "Unpublished blocks that are still leased.") \
  KV_COUNTER(kBlocksPinned, kConductor, kGauge, "blocks_pinned", "blocks", "Blocks held by a pin call; leases do not count.") \
  KV_COUNTER(kBlocksUnsummed, kConductor, kGauge, "blocks_unsummed", "blocks", "Ready blocks without a checksum yet.") \
  KV_COUNTER(kSlotsFree, kConductor, kGauge, "slots_free", "slots", "Free slots of the assigned slabs.")               \
  KV_COUNTER(kSlotsQuarantined, kConductor, kGauge, "slots_quarantined", "slots", "Slots of clients that are gone but may still write.") \
  KV_COUNTER(kSlotsStocked, kConductor, kGauge, "slots_stocked", "slots", "Slots in clients' stocks, granted ahead of need.") \
  KV_COUNTER(kBlocksAdopted, kConductor, kCounter, "blocks_adopted", "blocks", "Blocks taken over from an earlier daemon.") \
  KV_COUNTER(kAdoptionDropped, kConductor, kCounter, "adoption_dropped", "blocks", "Blocks of an earlier daemon that could not be taken over.") \
  /* reserve, commit, wait */                                                                                         \
  KV_COUNTER(kReserveNew, kConductor, kCounter, "reserve_new", "blocks", "Reservations answered with a slot to fill.") \
  KV_COUNTER(kReserveExists, kConductor, kCounter, "reserve_exists", "blocks", "Reservations of a block that was there.") \
  KV_COUNTER(kReservePending, kConductor, kCounter, "reserve_pending", "blocks", "Reservations of a block that another client computes.") \
  KV_COUNTER(kReservesDeferred, kConductor, kGauge, "reserves_deferred", "requests", "Reserve requests that wait for a slab to come back.") \
  KV_COUNTER(kNoSpaceFull, kConductor, kCounter, "no_space_full", "blocks", "Reservations refused: nothing could be evicted.") \
  KV_COUNTER(kNoSpacePinned, kConductor, kCounter, "no_space_pinned", "blocks", "Reservations refused: leases and pins hold the memory.") \
  KV_COUNTER(kNoSpaceQuota, kConductor, kCounter, "no_space_quota", "blocks", "Reservations refused: the namespace is at its limit.") \
  KV_COUNTER(kNoSpaceWriterBusy, kConductor, kCounter, "no_space_writer_busy", "blocks", "Reservations refused: a slab's writer did not give it back in time.") \
  KV_COUNTER(kNoSpaceOther, kConductor, kCounter, "no_space_other", "blocks", "Reservations refused: a limit of the daemon.") \
  KV_COUNTER(kStockGrants, kConductor, kCounter, "stock_grants", "slots", "Slots granted to a stock.") \
  KV_COUNTER(kStockReturns, kConductor, kCounter, "stock_returns", "slots", "Slots of a stock taken back before they were used.") \
  KV_COUNTER(kStockRacesLost, kConductor, kCounter, "stock_races_lost", "blocks", "Commits from a stock whose block another client had.") \
  KV_COUNTER(kCommits, kConductor, kCounter, "commits", "blocks", "Blocks made visible.")                              \
  KV_COUNTER(kCommitsRefused, kConductor, kCounter, "commits_refused", "blocks", "Commits of a stale or foreign reservation, or of a lost race.") \
  KV_COUNTER(kAborts, kConductor, kCounter, "aborts", "blocks", "Reservations given up by their client.")              \
  KV_COUNTER(kAbortsByExit, kConductor, kCounter, "aborts_by_exit", "blocks", "Reservations that came back with their client's exit.") \
  KV_COUNTER(kWaitsOpen, kConductor, kGauge, "waits_open", "requests", "Clients that wait for another's block.")       \
  /* eviction */                                                                                                      \
  KV_COUNTER(kEvictions, kConductor, kCounter, "evictions", "blocks", "Blocks evicted to make room.")                  \
  KV_COUNTER(kEvictionsInvalidated, kConductor, kCounter, "evictions_invalidated", "blocks", "Blocks dropped with their spec or namespace.") \
  KV_COUNTER(kEvictionsRequested, kConductor, kCounter, "evictions_requested", "blocks", "Blocks evicted or flushed by an administrator.") \
  KV_COUNTER(kEvictPutBack, kConductor, kCounter, "evict_put_back", "blocks", "Eviction candidates that stayed because they were leased.") \
  KV_COUNTER(kEvictScanned, kConductor, kCounter, "evict_scanned", "blocks", "Eviction candidates looked at.")         \
  /* hits */                                                                                                          \
  KV_COUNTER(kHitsHost, kConductor, kCounter, "hits_host", "blocks", "Blocks acquired in the host tier, by the access log.") \
  KV_COUNTER(kAccessRecords, kConductor, kCounter, "access_records", "records", "Access records taken from client channels.") \
  KV_COUNTER(kAccessRecordsLost, kConductor, kCounter, "access_records_lost", "records", "Access records overwritten before they were read.") \
  KV_COUNTER(kAccessRecordsInvalid, kConductor, kCounter, "access_records_invalid", "records", "Access records that made no sense.") \
  KV_COUNTER(kDirectoryEntries, kConductor, kGauge, "directory_entries", "entries", "Entries of all directories.")     \
  KV_COUNTER(kDirectoryCapacity, kConductor, kGauge, "directory_capacity", "entries", "Entries that the directories have room for.") \
  KV_COUNTER(kDirectoryBytesHuge, kConductor, kGauge, "directory_bytes_huge", "bytes", "Of the directories' memory, what is in 2 MiB pages.") \
  KV_COUNTER(kDirectoryGrows, kConductor, kCounter, "directory_grows", "directories", "Directories replaced by a larger one.") \
  KV_COUNTER(kNamespaces, kConductor, kGauge, "namespaces", "namespaces", "Namespaces in use.")                        \
  KV_COUNTER(kSpaces, kConductor, kGauge, "spaces", "spaces", "Registered specs.")                                     \
  /* clients */                                                                                                       \
  KV_COUNTER(kSessions, kConductor, kGauge, "sessions", "clients", "Connected clients.")                               \
  KV_COUNTER(kZombies, kConductor, kGauge, "zombies", "clients", "Disconnected clients whose process still lives.")    \
  KV_COUNTER(kZombieBytes, kConductor, kGauge, "zombie_bytes", "bytes", "Slabs that disconnected clients may still write.") \
  KV_COUNTER(kSessionsOpened, kConductor, kCounter, "sessions_opened", "sessions", "Sessions opened.")                 \
  KV_COUNTER(kSessionsResumed, kConductor, kCounter, "sessions_resumed", "sessions", "Sessions that proved their channel after a reconnect.") \
  KV_COUNTER(kSessionsRefused, kConductor, kCounter, "sessions_refused", "sessions", "Connections refused: access, version or limit.") \
  KV_COUNTER(kSessionsKicked, kConductor, kCounter, "sessions_kicked", "sessions", "Sessions ended by an administrator.") \
  KV_COUNTER(kProtocolErrors, kConductor, kCounter, "protocol_errors", "sessions", "Sessions ended because they broke the protocol.") \
  KV_COUNTER(kCommands, kConductor, kCounter, "commands", "commands", "Commands taken from client rings.")             \
  /* the NVMe tier */                                                                                                 \
  KV_COUNTER(kBlocksCold, kConductor, kGauge, "blocks_cold", "blocks", "Blocks that are on disk only.") \
  KV_COUNTER(kBlocksRestoring, kConductor, kGauge, "blocks_restoring", "blocks", "Blocks that are being read from disk.") \
  KV_COUNTER(kDiskBytesWriting, kConductor, kGauge, "disk_bytes_writing", "bytes", "Slots that are being written to disk.") \
  KV_COUNTER(kDiskBytesReading, kConductor, kGauge, "disk_bytes_reading", "bytes", "Slots that are being read from disk.") \
  KV_COUNTER(kHitsDisk, kConductor, kCounter, "hits_disk", "blocks", "Blocks that clients asked for and that were on disk.") \
  KV_COUNTER(kDemotions, kConductor, kCounter, "demotions", "blocks", "Blocks written to disk.") \
  KV_COUNTER(kDemotedBytes, kConductor, kCounter, "demoted_bytes", "bytes", "Payload bytes of blocks written to disk.") \
  KV_COUNTER(kDemotionsFailed, kConductor, kCounter, "demotions_failed", "blocks", "Blocks that could not be written to disk; they are tried again.") \
  KV_COUNTER(kRestores, kConductor, kCounter, "restores", "blocks", "Restores from disk begun.") \
  KV_COUNTER(kRestoresFailed, kConductor, kCounter, "restores_failed", "blocks", "Restores that ended without the block.") \
  KV_COUNTER(kRestoredBytes, kConductor, kCounter, "restored_bytes", "bytes", "Payload bytes of blocks read back from disk.") \
  KV_COUNTER(kEvictionsUnsaved, kConductor, kCounter, "evictions_unsaved", "blocks", "Blocks that left for good beside a disk, because they were not on it yet.") \
  KV_COUNTER(kColdDropped, kConductor, kCounter, "cold_dropped", "blocks", "Blocks on disk only that made room in the index or the directory.") \
  KV_COUNTER(kDiskLost, kConductor, kCounter, "disk_lost", "blocks", "Copies on disk that reclaim gave up or that could not be read.") \
  KV_COUNTER(kDiskRecovered, kConductor, kCounter, "disk_recovered", "blocks", "Blocks of an earlier daemon found on disk.") \
  KV_COUNTER(kDiskRefused, kConductor, kCounter, "disk_refused", "blocks", "Blocks found on disk and given up: no room for them, or an unknown or invalidated spec.") \
  /* bytes stored and checked */                                                                                      \
  KV_COUNTER(kCommittedBytes, kConductor, kCounter, "committed_bytes", "bytes", "Payload bytes of committed blocks.")  \
  KV_COUNTER(kChecksums, kConductor, kCounter, "checksums", "blocks", "Block checksums computed.")                     \
  KV_COUNTER(kChecksumFailures, kConductor, kCounter, "checksum_failures", "blocks", "Blocks whose bytes did not match their checksum.") \
  /* the daemon itself */                                                                                             \
  KV_COUNTER(kConductorWakeups, kConductor, kCounter, "conductor_wakeups", "wakeups", "Times that the conductor came out of sleep.") \
  KV_COUNTER(kConductorRounds, kConductor, kCounter, "conductor_rounds", "rounds", "Rounds of the conductor's loop.")  \
  KV_COUNTER(kConductorWorkNs, kConductor, kCounter, "conductor_work_ns", "ns", "Time that the conductor spent in rounds that found work.") \
  KV_COUNTER(kUptimeSeconds, kConductor, kGauge, "uptime_seconds", "s", "Time since the daemon started.")              \
  KV_COUNTER(kLogLines, kAny, kCounter, "log_lines", "lines", "Log lines written.")                                    \
  KV_COUNTER(kLogSuppressed, kAny, kCounter, "log_suppressed", "lines", "Repeated log lines that were counted instead of written.")
// clang-format on
