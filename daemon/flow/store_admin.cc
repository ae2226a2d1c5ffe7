#include "daemon/flow/store_admin.h"

#include "daemon/flow/pin_census.h"

namespace kvtier {
namespace {

std::uint64_t used_bytes(const Tenant& tenant) {
  std::uint64_t bytes = 0;
  for (const SlotClass& each : tenant.classes) bytes += (each.slots - each.slots_free) * each.slot_bytes;
  return bytes;
}

class Admin final : public StoreAdmin {
 public:
  explicit Admin(StoreState& state) : state_(&state) {}

  std::vector<NamespaceView> namespaces() override {
    std::vector<NamespaceView> rows;
    for (const Tenant& tenant : state_->tenants) {
      rows.push_back({.name = tenant.name,
                      .blocks = tenant.blocks_ready,
                      .bytes = tenant.slab_bytes,
                      .used_bytes = used_bytes(tenant),
                      .bytes_max = tenant.bytes_max,
                      .slabs = tenant.slabs.size(),
                      .directory_entries = tenant.directory.size(),
                      .directory_capacity = tenant.directory.capacity(),
                      .pinned_bytes = tenant.pinned_bytes,
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
  std::vector<ClientView> clients() override {
    std::vector<ClientView> rows = admin_clients(*state_);
    admin_add_pins(*state_, rows);
    return rows;
  }

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

  Result<SyncView> sync(const BlockFilter& filter, std::uint64_t number) override {
    return admin_sync(*state_, filter, number);
  }

  Status kick(const KickTarget& target) override { return admin_kick(*state_, target); }
  std::vector<std::string> complaints() override { return admin_complaints(*state_); }

 private:
  StoreState* state_;
};

}  // namespace

std::unique_ptr<StoreAdmin> make_store_admin(StoreState& state) {
  return std::make_unique<Admin>(state);
}

}  // namespace kvtier
