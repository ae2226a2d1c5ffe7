#pragma once
// The blocks that a reserve call names are not lost while it looks for room: what is answered as there must be there,
// in memory or on disk, and no prefix makes room for its own end.

#include "daemon/flow/put.h"
#include "daemon/flow/state.h"

namespace kvtier {

/// Of one call, while it lives. Thread: the conductor.
class NamedBlocks {
 public:
  NamedBlocks(StoreState& state, NamespaceId tenant, SpaceId space, const ReserveInput& input)
      : state_(state), tenant_(tenant), space_(space), input_(input) {
    for (const Key& key : input.keys) {
      if (!key.is_zero() && !set(key, true)) ++new_count_;
    }
    (void)set(input.parent, true);
  }
  NamedBlocks(const NamedBlocks&) = delete;
  NamedBlocks& operator=(const NamedBlocks&) = delete;
  ~NamedBlocks() {
    for (const Key& key : input_.keys) (void)set(key, false);
    (void)set(input_.parent, false);
  }

  /// Keys that name no block.
  [[nodiscard]] std::uint32_t new_count() const { return new_count_; }

 private:
  bool set(const Key& key, bool is_named) const {
    if (key.is_zero()) return false;
    const BlockId id = state_.index->find(tenant_, space_, key);
    if (id == BlockId::kNone) return false;
    std::uint16_t& flags = state_.blocks[id].flags;
    flags = static_cast<std::uint16_t>(is_named ? flags | kBlockNamed : flags & ~kBlockNamed);
    return true;
  }

  StoreState& state_;
  const NamespaceId tenant_;
  const SpaceId space_;
  const ReserveInput& input_;
  std::uint32_t new_count_ = 0;
};

}  // namespace kvtier
