#pragma once
// StoreStats by name, for the `stats` answer.

#include <array>
#include <cstdint>
#include <string_view>

#include "daemon/flow/stats.h"

namespace kvtier {

struct StatsField {
  std::string_view name;
  std::uint64_t StoreStats::*member;
};

inline constexpr auto kStatsFields = std::to_array<StatsField>({
    {"host_bytes", &StoreStats::host_bytes},
    {"host_bytes_huge", &StoreStats::host_bytes_huge},
    {"host_bytes_locked", &StoreStats::host_bytes_locked},
    {"metadata_bytes", &StoreStats::metadata_bytes},
    {"channel_bytes", &StoreStats::channel_bytes},
    {"blocks_ready", &StoreStats::blocks_ready},
    {"blocks_writing", &StoreStats::blocks_writing},
    {"blocks_draining", &StoreStats::blocks_draining},
    {"slots_free", &StoreStats::slots_free},
    {"slots_quarantined", &StoreStats::slots_quarantined},
    {"slots_stocked", &StoreStats::slots_stocked},
    {"slabs_total", &StoreStats::slabs_total},
    {"slabs_assigned", &StoreStats::slabs_assigned},
    {"sessions", &StoreStats::sessions},
    {"zombies", &StoreStats::zombies},
    {"blocks_pinned", &StoreStats::blocks_pinned},
    {"waits_open", &StoreStats::waits_open},
    {"reserves_deferred", &StoreStats::reserves_deferred},
    {"blocks_unsummed", &StoreStats::blocks_unsummed},
    {"directory_entries", &StoreStats::directory_entries},
    {"directory_capacity", &StoreStats::directory_capacity},
    {"directory_bytes_huge", &StoreStats::directory_bytes_huge},
    {"namespaces", &StoreStats::namespaces},
    {"spaces", &StoreStats::spaces},
    {"zombie_bytes", &StoreStats::zombie_bytes},
    {"blocks_cold", &StoreStats::blocks_cold},
    {"blocks_restoring", &StoreStats::blocks_restoring},
    {"disk_bytes_writing", &StoreStats::disk_bytes_writing},
    {"disk_bytes_reading", &StoreStats::disk_bytes_reading},
    {"reserve_new", &StoreStats::reserve_new},
    {"reserve_exists", &StoreStats::reserve_exists},
    {"reserve_pending", &StoreStats::reserve_pending},
    {"no_space_full", &StoreStats::no_space_full},
    {"no_space_pinned", &StoreStats::no_space_pinned},
    {"no_space_quota", &StoreStats::no_space_quota},
    {"no_space_writer_busy", &StoreStats::no_space_writer_busy},
    {"no_space_other", &StoreStats::no_space_other},
    {"stock_grants", &StoreStats::stock_grants},
    {"stock_returns", &StoreStats::stock_returns},
    {"stock_races_lost", &StoreStats::stock_races_lost},
    {"commits", &StoreStats::commits},
    {"committed_bytes", &StoreStats::committed_bytes},
    {"commits_refused", &StoreStats::commits_refused},
    {"aborts", &StoreStats::aborts},
    {"aborts_by_exit", &StoreStats::aborts_by_exit},
    {"evictions", &StoreStats::evictions},
    {"evictions_invalidated", &StoreStats::evictions_invalidated},
    {"evictions_requested", &StoreStats::evictions_requested},
    {"evict_put_back", &StoreStats::evict_put_back},
    {"evict_scanned", &StoreStats::evict_scanned},
    {"access_records", &StoreStats::access_records},
    {"access_records_lost", &StoreStats::access_records_lost},
    {"access_records_invalid", &StoreStats::access_records_invalid},
    {"hits_host", &StoreStats::hits_host},
    {"hits_disk", &StoreStats::hits_disk},
    {"slab_lends", &StoreStats::slab_lends},
    {"slab_revokes", &StoreStats::slab_revokes},
    {"slab_reshapes", &StoreStats::slab_reshapes},
    {"slab_retirements", &StoreStats::slab_retirements},
    {"protocol_errors", &StoreStats::protocol_errors},
    {"sessions_opened", &StoreStats::sessions_opened},
    {"sessions_resumed", &StoreStats::sessions_resumed},
    {"sessions_kicked", &StoreStats::sessions_kicked},
    {"blocks_adopted", &StoreStats::blocks_adopted},
    {"adoption_dropped", &StoreStats::adoption_dropped},
    {"slabs_emptied", &StoreStats::slabs_emptied},
    {"directory_grows", &StoreStats::directory_grows},
    {"directory_grows_failed", &StoreStats::directory_grows_failed},
    {"checksums", &StoreStats::checksums},
    {"checksum_failures", &StoreStats::checksum_failures},
    {"blocks_doubted", &StoreStats::blocks_doubted},
    {"blocks_corrupt", &StoreStats::blocks_corrupt},
    {"demotions", &StoreStats::demotions},
    {"demoted_bytes", &StoreStats::demoted_bytes},
    {"demotions_failed", &StoreStats::demotions_failed},
    {"restores", &StoreStats::restores},
    {"restores_failed", &StoreStats::restores_failed},
    {"restored_bytes", &StoreStats::restored_bytes},
    {"evictions_unsaved", &StoreStats::evictions_unsaved},
    {"evictions_not_admitted", &StoreStats::evictions_not_admitted},
    {"cold_dropped", &StoreStats::cold_dropped},
    {"syncs", &StoreStats::syncs},
    {"syncs_incomplete", &StoreStats::syncs_incomplete},
    {"index_drops", &StoreStats::index_drops},
    {"disk_lost", &StoreStats::disk_lost},
    {"disk_recovered", &StoreStats::disk_recovered},
    {"disk_refused", &StoreStats::disk_refused},
});
static_assert(sizeof(StoreStats) == kStatsFields.size() * sizeof(std::uint64_t), "a field has no row here");

}  // namespace kvtier
