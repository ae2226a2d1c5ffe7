#include "daemon/flow/store_admin.h"

#include <algorithm>

namespace kvtier {
namespace {

constexpr std::uint32_t kInspectMax = 16;
constexpr std::uint32_t kRecordsPerStep = 16384;

class Admin final : public StoreAdmin {
 public:
  explicit Admin(StoreState& state) : state_(&state) {}

  std::vector<NamespaceView> namespaces() override {
    std::vector<NamespaceView> rows;
    for (const Tenant& tenant : state_->tenants) {
      rows.push_back({.name = tenant.name,
                      .blocks = tenant.blocks_ready,
                      .bytes = tenant.slab_bytes,
                      .bytes_max = tenant.bytes_max,
                      .slabs = tenant.slabs.size(),
                      .directory_entries = tenant.directory.writer.size(),
                      .directory_capacity = tenant.directory.writer.capacity(),
                      .sessions = static_cast<std::uint32_t>(tenant.sessions.size())});
    }
    return rows;
  }

  std::vector<SpaceView> spaces() override {
    std::vector<SpaceView> rows;
    for (const Tenant& tenant : state_->tenants) {
      for (std::size_t i = 0; i < tenant.spaces.size(); ++i) {
        const Space& space = tenant.spaces[i];
        rows.push_back({.namespace_name = tenant.name,
                        .space = SpaceId{static_cast<std::uint32_t>(i + 1)},
                        .digest = space.digest,
                        .model = space.spec.model,
                        .revision = space.spec.revision,
                        .adapter = space.spec.adapter,
                        .block_tokens = space.spec.block_tokens,
                        .block_bytes = space.block_bytes,
                        .slot_bytes = tenant.classes[space.slot_class].slot_bytes,
                        .blocks = space.blocks,
                        .is_invalidated = space.is_invalidated});
      }
    }
    return rows;
  }

  std::vector<ClientView> clients(bool count_leases) override { return admin_clients(*state_, count_leases); }

  Page<BlockView> blocks(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) override {
    Page<BlockView> page;
    const std::uint64_t end = std::min<std::uint64_t>(state_->blocks.limit(), cursor + kRecordsPerStep);
    for (; cursor < end && page.rows.size() < limit; ++cursor) {
      const BlockId id{static_cast<std::uint32_t>(cursor)};
      if (!admin_matches(*state_, filter, state_->blocks[id])) continue;
      page.rows.push_back(admin_block_view(*state_, id, true));
    }
    if (cursor < state_->blocks.limit()) page.next = cursor;
    return page;
  }

  std::vector<BlockView> inspect(std::string_view prefix_hex) override {
    std::vector<BlockView> rows;
    for (const BlockId id : admin_find(*state_, prefix_hex, kInspectMax)) {
      rows.push_back(admin_block_view(*state_, id, true));
    }
    return rows;
  }

  Page<TreeNode> tree(std::string_view namespace_name, SpaceId space, std::uint64_t cursor,
                      std::uint32_t limit) override {
    return admin_tree(*state_, namespace_name, space, cursor, limit);
  }

  EvictReport evict(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) override {
    return admin_evict(*state_, filter, cursor, limit);
  }

  EvictReport evict_key(std::string_view prefix_hex) override {
    EvictReport report;
    for (const BlockId id : admin_find(*state_, prefix_hex, kInspectMax)) {
      const EvictReport one = admin_evict_one(*state_, id);
      report.evicted += one.evicted;
      report.kept_leased += one.kept_leased;
      report.kept_pinned += one.kept_pinned;
      report.kept_writing += one.kept_writing;
    }
    return report;
  }

  Status kick(std::uint64_t session_id_or_pid) override {
    bool is_known = false;
    for (const auto& session : state_->sessions) {
      if (session == nullptr) continue;
      if (session->id != session_id_or_pid && session->request.pid != session_id_or_pid) continue;
      is_known = true;
      if (session->life != Session::Life::kAttached) continue;
      OutEvent event;
      event.kind = OutEvent::Kind::kEndSession;
      event.session = session->index;
      event.reason = "ended by an administrator (kvctl kick)";
      state_->outbox->push_back(std::move(event));
    }
    if (is_known) return Status::ok();
    return {Code::kNotFound,
            "no session and no process " + std::to_string(session_id_or_pid) + "; see kvctl clients"};
  }

  std::vector<std::string> complaints() override {
    std::vector<std::string> lines;
    const std::uint64_t budget = state_->memory.bytes() / 100 * state_->options.pinned_percent_client;
    for (const ClientView& client : admin_clients(*state_, true)) {
      if (client.leased_bytes > budget) {
        lines.push_back("pid " + std::to_string(client.pid) + " (" + client.name + ") leases " +
                        std::to_string(client.leased_bytes) +
                        " bytes, more than limits.pinned_fraction_client allows");
      }
      if (client.state != "attached") {
        lines.push_back("pid " + std::to_string(client.pid) + " (" + client.name +
                        ") is disconnected and still runs: " + std::to_string(client.leased_bytes) +
                        " bytes leased, " + std::to_string(client.writing_blocks) +
                        " blocks quarantined until it exits");
      }
    }
    return lines;
  }

 private:
  StoreState* state_;
};

}  // namespace

std::unique_ptr<StoreAdmin> make_store_admin(StoreState& state) {
  return std::make_unique<Admin>(state);
}

}  // namespace kvtier
