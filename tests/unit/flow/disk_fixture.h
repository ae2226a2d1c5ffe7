#pragma once
// A store beside a scripted NVMe tier.

#include "daemon/flow/state.h"
#include "tests/support/fake_disk_port.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {

class DiskFixture : public StoreFixture {
 protected:
  /// Its store is there, and the tier open if it may.
  void make_disk_store(std::uint64_t slots, StoreOptions options = {}) {
    options.disk = port_.get();
    make_store(slots, options);
    for (const auto& [name, encodings] : disk_.catalog) {
      for (const auto& encoding : encodings) EXPECT_TRUE(store_->disk_space(name, encoding).is_ok());
    }
    store_->disk_open();
    if (opens_) settle();
  }

  /// The daemon is gone, and comes back cold: what is on disk is all that is left.
  void restart_cold(std::uint64_t slots, StoreOptions options = {}) {
    TearDown();
    clients_.clear();
    store_.reset();
    fds_.clear();
    port_ = std::make_unique<FakeDiskPort>(disk_);
    if (prepare_) prepare_(*port_);
    make_disk_store(slots, options);
  }

  void TearDown() override {
    if (store_ == nullptr) return;
    port_->is_automatic = true;
    port_->ending = nullptr;
    port_->release();
    StoreFixture::TearDown();
    expect_balance();
  }

  /// Every copy that the tier told of is named by one block, or was forgotten.
  void expect_balance() {
    std::set<std::uint64_t> named;
    StoreState& state = store_->state();
    for (std::uint32_t i = 0; i < state.blocks.limit(); ++i) {
      const BlockRecord& record = state.blocks[BlockId{i}];
      if (record.state == BlockState::kFree || (record.flags & kBlockOnDisk) == 0) continue;
      EXPECT_TRUE(named.insert(state.disk->locators[i].sequence).second) << "one copy, two blocks";
    }
    EXPECT_TRUE(state.disk->life != DiskTier::Life::kReady || named == port_->owned());
  }

  [[nodiscard]] const BlockRecord* record_of(SpaceId space, const Key& key) const {
    const BlockId id = store_->state().index->find(NamespaceId{0}, space, key);
    return id == BlockId::kNone ? nullptr : &store_->state().blocks[id];
  }
  [[nodiscard]] std::uint64_t sequence_of(SpaceId space, const Key& key) const {
    const BlockId id = store_->state().index->find(NamespaceId{0}, space, key);
    return store_->state().disk->locators[index_of(id)].sequence;
  }
  /// Of each key: 0 missing, 1 ready, 2 pending, 3 on disk only.
  static std::vector<int> states_of(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
    std::vector<int> states;
    for (const Key& key : keys) states.push_back(client.match(space, key));
    return states;
  }
  static std::size_t count_cold(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
    const std::vector<int> states = states_of(client, space, keys);
    return static_cast<std::size_t>(std::count(states.begin(), states.end(), 3));
  }
  void expect_bytes(SimClient& client, SpaceId space, const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      std::optional<SimLease> lease = client.acquire(space, key);
      ASSERT_TRUE(lease.has_value());
      expect_exact(*lease);
      SimClient::release(*lease);
    }
  }

  FakeDisk disk_;
  std::unique_ptr<FakeDiskPort> port_ = std::make_unique<FakeDiskPort>(disk_);
  std::function<void(FakeDiskPort&)> prepare_;  ///< of the port of the next life
  bool opens_ = true;
};

}  // namespace kvtier::test
