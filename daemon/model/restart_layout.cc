// The identity of the layout of restart memory: every record's size, every field's place, and where the areas
// begin for sizes that differ from each other.

#include <array>
#include <cstddef>

#include "daemon/model/block_record.h"
#include "daemon/model/restart_state.h"

namespace kvtier {
namespace {

constexpr std::array kPlaces = {
    // records
    sizeof(RestartHeader), sizeof(RestartTenant), sizeof(RestartSpace), sizeof(RestartSlab),
    sizeof(RestartSession), sizeof(RestartSizes), sizeof(BlockRecord),
    // header
    offsetof(RestartHeader, layout), offsetof(RestartHeader, blocks_max), offsetof(RestartHeader, host_bytes),
    offsetof(RestartHeader, slab_bytes), offsetof(RestartHeader, instance),
    offsetof(RestartHeader, next_session_id), offsetof(RestartHeader, tenant_count),
    offsetof(RestartHeader, space_count), offsetof(RestartHeader, spec_bytes),
    offsetof(RestartHeader, blocks_reserved), offsetof(RestartHeader, sizes),
    // namespaces, spaces, slabs
    offsetof(RestartTenant, bytes_max), offsetof(RestartTenant, name), offsetof(RestartSpace, tenant),
    offsetof(RestartSpace, encoding_bytes), offsetof(RestartSpace, encoding_offset),
    offsetof(RestartSlab, slot_bytes), offsetof(RestartSlab, writer_session),
    offsetof(RestartSlab, tenant_plus_one),
    // sessions
    offsetof(RestartSession, secret), offsetof(RestartSession, tenant), offsetof(RestartSession, pid),
    offsetof(RestartSession, uid), offsetof(RestartSession, is_read_only), offsetof(RestartSession, name),
    offsetof(RestartSession, version), offsetof(RestartSession, id),
    // blocks
    offsetof(BlockRecord, key), offsetof(BlockRecord, generation), offsetof(BlockRecord, checksum),
    offsetof(BlockRecord, slot), offsetof(BlockRecord, space), offsetof(BlockRecord, tenant),
    offsetof(BlockRecord, state), offsetof(BlockRecord, stock_entry), offsetof(BlockRecord, flags),
    offsetof(BlockRecord, writer), offsetof(BlockRecord, parent), offsetof(BlockRecord, access_ms),
    offsetof(BlockRecord, hits), kBlockStateCount, std::size_t{kBlockSummed}};

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3ULL;  // FNV-1a, a word at a time
}

constexpr std::uint32_t compute() {
  std::uint64_t hash = mix(0xcbf29ce484222325ULL, kRestartMeaning);
  for (const std::size_t place : kPlaces) hash = mix(hash, place);
  const RestartAreas at = RestartAreas::of({.tenants_max = 3,
                                            .spaces_max = 1001,
                                            .slabs = 20'003,
                                            .sessions_max = 307,
                                            .spec_bytes_max = 1'000'003});
  for (const std::uint64_t area : {at.tenants, at.spaces, at.slabs, at.sessions, at.specs, at.bytes})
    hash = mix(hash, area);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

constexpr std::uint32_t kLayout = compute();

}  // namespace

std::uint32_t restart_layout() {
  return kLayout;
}

}  // namespace kvtier
