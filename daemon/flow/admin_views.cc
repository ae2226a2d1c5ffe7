#include <algorithm>
#include <array>

#include "daemon/flow/pin.h"
#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kWalkMax = 1U << 14;  ///< depth and children beyond it are not counted

std::uint32_t leases_of(StoreState& state, const BlockRecord& record) {
  std::uint32_t leases = 0;
  if (record.state == BlockState::kCold) return leases;
  const Slab& slab = state.slab_of(record.slot);
  for (const SessionIndex index : state.tenants[record.tenant].sessions) {
    // relaxed: a number for people, ordered with nothing
    leases += state.session(index)
                  ->pin(slab, record.slot.slot(), state.pins_stride)
                  .load(std::memory_order_relaxed);
  }
  return leases;
}

std::uint64_t stocked_bytes(StoreState& state, const Session& session) {
  std::uint64_t bytes = 0;
  for (const BlockId id : session.stock)
    bytes += id == BlockId::kNone ? 0 : state.slab_of(state.blocks[id].slot).slot_bytes();
  return bytes;
}

std::string_view state_name(BlockState state) {
  static constexpr std::array<std::string_view, kBlockStateCount> kNames = {
      "free", "writing", "ready", "evicting", "draining", "quarantined", "stocked", "cold", "restoring"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view life_name(Session::Life life) {
  static constexpr std::array<std::string_view, 3> kNames = {"attached", "zombie", "adopted"};
  return kNames[static_cast<std::size_t>(life)];
}

}  // namespace

bool admin_matches(StoreState& state, const BlockFilter& filter, const BlockRecord& record) {
  if (record.state == BlockState::kFree || record.state == BlockState::kStocked) return false;
  if (filter.space != SpaceId::kNone && record.space != filter.space) return false;
  return filter.namespace_name.empty() || state.tenants[record.tenant].name == filter.namespace_name;
}

BlockView admin_block_view(StoreState& state, BlockId id, bool count_leases) {
  const BlockRecord& record = state.blocks[id];
  BlockView view;
  view.namespace_name = state.tenants[record.tenant].name;
  view.space = record.space;
  view.key = record.key;
  if (record.parent != BlockId::kNone) view.parent = state.blocks[record.parent].key;
  view.state = state_name(record.state);
  view.bytes = state.space_of(record).block_bytes;
  view.depth = state.tree->depth(id, kWalkMax);
  view.children = state.tree->children(id, kWalkMax);
  const bool is_writing = record.writer != kNoWriter;
  view.hits = record.hits;
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  view.age_ms = is_writing ? 0 : now_ms - record.access_ms;
  if (is_writing) {
    const Session* writer = state.session(SessionIndex{record.writer});
    view.writer_pid = writer == nullptr ? 0 : writer->request.pid;
  }
  if (const Pin* pin = pin_of(state, id); pin != nullptr) {
    const TimeNs now = state.now();
    view.pinned_ms = pin->expires_ns > now ? (pin->expires_ns - now) / kNsPerMs : 0;
  }
  view.leases = count_leases ? leases_of(state, record) : 0;
  view.is_on_disk = (record.flags & kBlockOnDisk) != 0;
  if (record.state != BlockState::kCold) view.slot = record.slot;
  view.generation = record.generation;
  if ((record.flags & kBlockSummed) != 0) view.checksum = record.checksum;
  return view;
}

std::vector<ClientView> admin_clients(StoreState& state) {
  std::vector<ClientView> rows;
  for (const auto& session : state.sessions) {
    if (session == nullptr) continue;
    ClientView view;
    view.session = session->index;
    view.session_id = session->id;
    view.namespace_name = state.tenant_of(*session).name;
    view.name = session->request.client_name;
    view.version = session->request.client_version;
    view.state = life_name(session->life);
    view.pid = session->request.pid;
    view.uid = session->request.uid;
    view.is_read_only = session->request.is_read_only;
    view.writing_blocks = session->writing_count - session->stocked_count;
    view.stocked_blocks = session->stocked_count;
    view.stocked_bytes = stocked_bytes(state, *session);
    view.slabs_lent = session->slabs_lent;
    view.connected_ms = (state.now() - session->opened_ns) / kNsPerMs;
    view.leased_blocks = session->leased.blocks;
    view.leased_bytes = session->leased.bytes;
    view.leased_unpinned_bytes = session->leased.unpinned_bytes;
    rows.push_back(std::move(view));
  }
  return rows;
}

}  // namespace kvtier
