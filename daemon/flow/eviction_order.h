#pragma once
// The evictors of the store's classes and what they share: one order a class, told of leaves by the prefix tree.
// Thread: the conductor.

#include <memory>

#include "daemon/flow/store.h"
#include "daemon/model/ids.h"
#include "daemon/policy/evictor.h"
#include "daemon/policy/prefix_tree.h"

namespace kvtier {

/// Hands on what the tree says to the evictor of the block's class.
class Leaves final : public LeafListener {
 public:
  explicit Leaves(Store::State& state) : state_(&state) {}
  void became_leaf(BlockId block) override;

 private:
  Store::State* state_;
};

/// The tree and what evictors share, once the block table is there.
void order_create(Store::State& state);
std::unique_ptr<Evictor> order_evictor(Store::State& state);
/// A block of memory became ready.
void order_insert(Store::State& state, BlockId id);
/// The cold end of a class, block by block: each candidate, and behind it those that it continues, which leave after it.
/// Valid while nothing changes.
class ColdEnd {
 public:
  ColdEnd(Store::State& state, Evictor& evictor);
  /// kNone at the end.
  BlockId take();

 private:
  Store::State* state_;
  Evictor* evictor_;
  BlockId candidate_;  // the next one
  BlockId up_ = BlockId::kNone;
};

/// Memory that the evictors have come to use.
[[nodiscard]] std::uint64_t order_bytes(const Store::State& state);
[[nodiscard]] std::uint64_t order_ghost_hits(const Store::State& state);

}  // namespace kvtier
