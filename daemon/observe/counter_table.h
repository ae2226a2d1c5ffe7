#pragma once
// Every counter, one row: KV_COUNTER(id, writer, kind, name, unit, help). `name` is `id` in snake case; a
// test checks that. Rows may move: readers go by name. `writer` is the one agent that stores it. Rows with
// the name of a StoreStats member are published from there.

// clang-format off
#define KV_COUNTER_TABLE(KV_COUNTER)                                                                                  \
  /* memory of the host tier */                                                                                       \
  KV_COUNTER(kHostBytes, kConductor, kGauge, "host_bytes", "bytes", "Payload memory of the host tier, all slabs.")     \
  KV_COUNTER(kHostBytesHuge, kConductor, kGauge, "host_bytes_huge", "bytes", "Host tier memory in huge pages; not counted of slabs that a warm start took over.")        \
  KV_COUNTER(kHostBytesLocked, kConductor, kGauge, "host_bytes_locked", "bytes", "Host tier memory locked against swap.") \
  KV_COUNTER(kMetadataBytes, kConductor, kGauge, "metadata_bytes", "bytes", "Directories, slot tables, block table, index and tree, resident.") \
  KV_COUNTER(kPolicyBytes, kConductor, kGauge, "policy_bytes", "bytes", "What the eviction policy knows of blocks that are there, or left, resident.") \
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
  KV_COUNTER(kGhostHits, kConductor, kCounter, "ghost_hits", "blocks", "Blocks that came back while the evictor still knew of them: a little more room would have kept them.") \
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
  /* NVMe tier */ \
  KV_COUNTER(kNvmePaths, kDisk, kGauge, "nvme_paths", "paths", "Paths of the NVMe tier that were opened.") \
  KV_COUNTER(kNvmePathsOk, kDisk, kGauge, "nvme_paths_ok", "paths", "Of them, those that serve and have room.") \
  KV_COUNTER(kNvmeSegments, kDisk, kGauge, "nvme_segments", "segments", "Segments of all paths.") \
  KV_COUNTER(kNvmeSegmentsFree, kDisk, kGauge, "nvme_segments_free", "segments", "Segments that nothing lies in.") \
  KV_COUNTER(kNvmeUsedBytes, kDisk, kGauge, "nvme_used_bytes", "bytes", "Of the paths, what is in segments that are not free.") \
  KV_COUNTER(kNvmeLiveBytes, kDisk, kGauge, "nvme_live_bytes", "bytes", "Of that, blocks that the index names.") \
  KV_COUNTER(kNvmeRegisteredBytes, kDisk, kGauge, "nvme_registered_bytes", "bytes", "Memory that the kernel maps once for the ring.") \
  KV_COUNTER(kNvmeBudgetTakenBytes, kDisk, kCounter, "nvme_budget_taken_bytes", "bytes", "Written by puts, as the budget counts it.") \
  KV_COUNTER(kNvmePutsWaiting, kDisk, kGauge, "nvme_puts_waiting", "blocks", "Puts that wait for room in the store.") \
  KV_COUNTER(kNvmeGetsWaiting, kDisk, kGauge, "nvme_gets_waiting", "blocks", "Gets that wait for room in the store.") \
  KV_COUNTER(kNvmeRequestsHeld, kDisk, kGauge, "nvme_requests_held", "requests", "Requests that were given up and that the device still has.") \
  KV_COUNTER(kNvmeRecoveryDone, kDisk, kGauge, "nvme_recovery_done", "steps", "Steps of the recovery that are done.") \
  KV_COUNTER(kNvmeRecoveryTotal, kDisk, kGauge, "nvme_recovery_total", "steps", "Steps of the recovery.") \
  KV_COUNTER(kNvmePuts, kDisk, kCounter, "nvme_puts", "blocks", "Blocks handed to the store on disk.") \
  KV_COUNTER(kNvmePutsFailed, kDisk, kCounter, "nvme_puts_failed", "blocks", "Blocks that could not be written.") \
  KV_COUNTER(kNvmePutsRefused, kDisk, kCounter, "nvme_puts_refused", "blocks", "Blocks that the store had no room for at once.") \
  KV_COUNTER(kNvmePutsOverBudget, kDisk, kCounter, "nvme_puts_over_budget", "blocks", "Blocks not written: the write budget is used up.") \
  KV_COUNTER(kNvmePutBytes, kDisk, kCounter, "nvme_put_bytes", "bytes", "Payload bytes stored, without padding.") \
  KV_COUNTER(kNvmeGets, kDisk, kCounter, "nvme_gets", "blocks", "Blocks asked for.") \
  KV_COUNTER(kNvmeGetsOk, kDisk, kCounter, "nvme_gets_ok", "blocks", "Blocks read, every byte checked.") \
  KV_COUNTER(kNvmeGetsStale, kDisk, kCounter, "nvme_gets_stale", "blocks", "Blocks whose segment was used anew meanwhile.") \
  KV_COUNTER(kNvmeGetsLate, kDisk, kCounter, "nvme_gets_late", "blocks", "Blocks that the device did not read in time.") \
  KV_COUNTER(kNvmeGetsUnavailable, kDisk, kCounter, "nvme_gets_unavailable", "blocks", "Blocks on a path that does not serve.") \
  KV_COUNTER(kNvmeGetBytes, kDisk, kCounter, "nvme_get_bytes", "bytes", "Payload bytes given out.") \
  KV_COUNTER(kNvmeFlushes, kDisk, kCounter, "nvme_flushes", "flushes", "Flushes asked for.") \
  KV_COUNTER(kNvmeMarks, kDisk, kCounter, "nvme_marks", "marks", "Keys, spaces and namespaces made void on disk.") \
  KV_COUNTER(kNvmeWrittenPayloads, kDisk, kCounter, "nvme_written_payloads", "bytes", "Written: payloads of new blocks, padding included.") \
  KV_COUNTER(kNvmeWrittenHeaders, kDisk, kCounter, "nvme_written_headers", "bytes", "Written: headers of new blocks.") \
  KV_COUNTER(kNvmeWrittenMarks, kDisk, kCounter, "nvme_written_marks", "bytes", "Written: tombstones and invalidations.") \
  KV_COUNTER(kNvmeWrittenMoves, kDisk, kCounter, "nvme_written_moves", "bytes", "Written: blocks that reclaim kept.") \
  KV_COUNTER(kNvmeWrittenSegments, kDisk, kCounter, "nvme_written_segments", "bytes", "Written: segment headers.") \
  KV_COUNTER(kNvmeWrittenFooters, kDisk, kCounter, "nvme_written_footers", "bytes", "Written: indexes of full segments.") \
  KV_COUNTER(kNvmeWrittenErasures, kDisk, kCounter, "nvme_written_erasures", "bytes", "Written: zeros over segments that were freed.") \
  KV_COUNTER(kNvmeWrittenSuperblocks, kDisk, kCounter, "nvme_written_superblocks", "bytes", "Written: superblocks.") \
  KV_COUNTER(kNvmeWrittenProbes, kDisk, kCounter, "nvme_written_probes", "bytes", "Written: probes of paths that did not serve.") \
  KV_COUNTER(kNvmeWrites, kDisk, kCounter, "nvme_writes", "requests", "Write requests to the devices.") \
  KV_COUNTER(kNvmeReads, kDisk, kCounter, "nvme_reads", "requests", "Read requests to the devices.") \
  KV_COUNTER(kNvmeReadBytes, kDisk, kCounter, "nvme_read_bytes", "bytes", "Bytes read from the devices.") \
  KV_COUNTER(kNvmeSyncs, kDisk, kCounter, "nvme_syncs", "requests", "Flushes of the devices, each for all that asked.") \
  KV_COUNTER(kNvmeIoFailed, kDisk, kCounter, "nvme_io_failed", "requests", "Requests that the device refused.") \
  KV_COUNTER(kNvmeIoLate, kDisk, kCounter, "nvme_io_late", "requests", "Requests that were not answered by their deadline.") \
  KV_COUNTER(kNvmeIoSplit, kDisk, kCounter, "nvme_io_split", "requests", "Requests that failed and were tried again in parts.") \
  KV_COUNTER(kNvmeFaultTruncated, kDisk, kCounter, "nvme_fault_truncated", "faults", "Bytes refused: fewer bytes than there should be.") \
  KV_COUNTER(kNvmeFaultEmpty, kDisk, kCounter, "nvme_fault_empty", "faults", "Bytes refused: zeros.") \
  KV_COUNTER(kNvmeFaultForeign, kDisk, kCounter, "nvme_fault_foreign", "faults", "Bytes refused: not ours.") \
  KV_COUNTER(kNvmeFaultHeaderDamaged, kDisk, kCounter, "nvme_fault_header_damaged", "faults", "Bytes refused: a header with a wrong checksum.") \
  KV_COUNTER(kNvmeFaultVersion, kDisk, kCounter, "nvme_fault_version", "faults", "Bytes refused: another format version.") \
  KV_COUNTER(kNvmeFaultOtherStore, kDisk, kCounter, "nvme_fault_other_store", "faults", "Bytes refused: of another store.") \
  KV_COUNTER(kNvmeFaultMisplaced, kDisk, kCounter, "nvme_fault_misplaced", "faults", "Bytes refused: intact and elsewhere than it belongs.") \
  KV_COUNTER(kNvmeFaultStale, kDisk, kCounter, "nvme_fault_stale", "faults", "Bytes refused: of an earlier use of the segment.") \
  KV_COUNTER(kNvmeFaultMalformed, kDisk, kCounter, "nvme_fault_malformed", "faults", "Bytes refused: intact and contradictory.") \
  KV_COUNTER(kNvmeFaultOtherBlock, kDisk, kCounter, "nvme_fault_other_block", "faults", "Bytes refused: another block than the index names.") \
  KV_COUNTER(kNvmeFaultPayloadDamaged, kDisk, kCounter, "nvme_fault_payload_damaged", "faults", "Bytes refused: a payload with a wrong checksum.") \
  KV_COUNTER(kNvmeFaultIndexDamaged, kDisk, kCounter, "nvme_fault_index_damaged", "faults", "Bytes refused: an index with a wrong checksum.") \
  KV_COUNTER(kNvmeSegmentsSealed, kDisk, kCounter, "nvme_segments_sealed", "segments", "Segments that were filled.") \
  KV_COUNTER(kNvmeSegmentsReclaimed, kDisk, kCounter, "nvme_segments_reclaimed", "segments", "Segments that were emptied.") \
  KV_COUNTER(kNvmeBlocksMoved, kDisk, kCounter, "nvme_blocks_moved", "blocks", "Blocks that reclaim kept.") \
  KV_COUNTER(kNvmeBlocksDropped, kDisk, kCounter, "nvme_blocks_dropped", "blocks", "Blocks that reclaim could not keep.") \
  KV_COUNTER(kNvmeBlocksDead, kDisk, kCounter, "nvme_blocks_dead", "blocks", "Blocks that reclaim met and nobody wanted.") \
  KV_COUNTER(kNvmeRecoveredBlocks, kDisk, kCounter, "nvme_recovered_blocks", "blocks", "Blocks found on disk at the start.") \
  KV_COUNTER(kNvmeRecoveredVoid, kDisk, kCounter, "nvme_recovered_void", "blocks", "Of what was found, made void by a mark.") \
  KV_COUNTER(kNvmeRecoveredUnknown, kDisk, kCounter, "nvme_recovered_unknown", "blocks", "Of what was found, of a space that nobody knows any more.") \
  KV_COUNTER(kNvmeRecoveredFooters, kDisk, kCounter, "nvme_recovered_footers", "segments", "Segments recovered from their index.") \
  KV_COUNTER(kNvmeRecoveredScans, kDisk, kCounter, "nvme_recovered_scans", "segments", "Segments recovered by reading all of them.") \
  KV_COUNTER(kNvmeRecoveredDropped, kDisk, kCounter, "nvme_recovered_dropped", "segments", "Segments that recovery gave up.") \
  KV_COUNTER(kNvmeSpacesFailed, kDisk, kCounter, "nvme_spaces_failed", "appends", "Appends to the files of spaces that failed.") \
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
  KV_COUNTER(kEvictionsNotAdmitted, kConductor, kCounter, "evictions_not_admitted", "blocks", "Of those that left unsaved, blocks that nobody used while little of the day's write budget was left.") \
  KV_COUNTER(kColdDropped, kConductor, kCounter, "cold_dropped", "blocks", "Blocks on disk only that made room in the index or the directory.") \
  KV_COUNTER(kSyncs, kConductor, kCounter, "syncs", "calls", "Calls for durability that were answered.") \
  KV_COUNTER(kSyncsIncomplete, kConductor, kCounter, "syncs_incomplete", "calls", "Of them, calls that were told that not all is on disk.") \
  KV_COUNTER(kIndexDrops, kConductor, kCounter, "index_drops", "blocks", "Blocks on disk given up because the index has no names for more (nvme.blocks_max, index.blocks_max).") \
  KV_COUNTER(kDiskLost, kConductor, kCounter, "disk_lost", "blocks", "Copies on disk that reclaim gave up or that could not be read.") \
  KV_COUNTER(kDiskRecovered, kConductor, kCounter, "disk_recovered", "blocks", "Blocks of an earlier daemon found on disk.") \
  KV_COUNTER(kDiskRefused, kConductor, kCounter, "disk_refused", "blocks", "Blocks found on disk and given up: no room for them, or an unknown or invalidated spec.") \
  /* bytes stored and checked */                                                                                      \
  KV_COUNTER(kCommittedBytes, kConductor, kCounter, "committed_bytes", "bytes", "Payload bytes of committed blocks.")  \
  KV_COUNTER(kChecksums, kConductor, kCounter, "checksums", "blocks", "Block checksums computed.")                     \
  KV_COUNTER(kChecksumFailures, kConductor, kCounter, "checksum_failures", "blocks", "Blocks whose bytes did not match their checksum.") \
  KV_COUNTER(kBlocksDoubted, kConductor, kCounter, "blocks_doubted", "blocks", "Blocks that a verifying client found damaged and the daemon summed again.") \
  KV_COUNTER(kBlocksCorrupt, kConductor, kCounter, "blocks_corrupt", "blocks", "Blocks that were damaged in memory after their commit, as a second sum showed: they were taken out.") \
  /* the daemon itself */                                                                                             \
  KV_COUNTER(kConductorWakeups, kConductor, kCounter, "conductor_wakeups", "wakeups", "Times that the conductor came out of sleep.") \
  KV_COUNTER(kConductorRounds, kConductor, kCounter, "conductor_rounds", "rounds", "Rounds of the conductor's loop.")  \
  KV_COUNTER(kConductorWorkNs, kConductor, kCounter, "conductor_work_ns", "ns", "Time that the conductor spent in rounds that found work.") \
  KV_COUNTER(kUptimeSeconds, kConductor, kGauge, "uptime_seconds", "s", "Time since the daemon started.")              \
  KV_COUNTER(kLogLines, kAny, kCounter, "log_lines", "lines", "Log lines written.")                                    \
  KV_COUNTER(kLogSuppressed, kAny, kCounter, "log_suppressed", "lines", "Repeated log lines that were counted instead of written.")
// clang-format on
