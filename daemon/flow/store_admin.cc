#include "daemon/flow/store_admin.h"

#include "daemon/flow/pin_census.h"

namespace kvtier {
namespace {

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

  std::uint64_t leases_ask() override { return census_next_round(*state_); }
  bool leases_count(std::uint64_t round) override { return census_advance(*state_, round, kPinCensusStep); }
  std::vector<ClientView> clients() override { return admin_clients(*state_); }

  Page<BlockView> blocks(const BlockFilter& filter, std::uint64_t cursor, std::uint32_t limit) override {
    return admin_blocks(*state_, filter, cursor, limit);
  }

  Page<BlockView> inspect(std::string_view prefix_hex, std::uint64_t cursor, std::uint32_t limit) override {
    return admin_inspect(*state_, prefix_hex, cursor, limit);
  }

  TreePage tree(const BlockFilter& filter, const TreeCursor& cursor, std::uint32_t limit) override {
    return admin_tree(*state_, filter, cursor, limit);
  }

  EvictReport evict(const EvictTarget& target, const EvictCursor& from, std::uint32_t work_max) override {
    return admin_evict(*state_, target, from, work_max);
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
    for (const ClientView& client : admin_clients(*state_)) {
      if (client.leased_bytes > budget) {
        lines.push_back("pid " + std::to_string(client.pid) + " (" + client.name + ") leases " +
                        std::to_string(client.leased_bytes) +
                        " bytes, more than limits.pinned_fraction_client allows");
      }
      if (client.state != "attached") {
        lines.push_back(
            "pid " + std::to_string(client.pid) + " (" + client.name + ") is disconnected and still runs: " +
            std::to_string(client.leased_bytes) + " bytes leased, " + std::to_string(client.writing_blocks) +
            " blocks quarantined, " + std::to_string(client.slabs_lent) +
            " slabs that nobody can write, until it reconnects or exits (after exec: until it exits)");
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
