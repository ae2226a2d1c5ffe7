#include "daemon/flow/evict_gather.h"

#include "daemon/flow/demote.h"
#include "daemon/flow/lending.h"

namespace kvtier {
namespace {

// Blocks above one that is leased that are counted with it.
constexpr std::uint32_t kKeptLook = 64;

// One pass from the coldest block on. A block with children that stay is passed over: they are hotter than
// it, and it leaves only behind them, as soon as the last of them was taken in the same pass.
class Gathering {
 public:
  Gathering(StoreState& state, const EvictRequest& request, EvictPass& pass)
      : state_(state),
        request_(request),
        pass_(pass),
        evictor_(*request.tenant->classes[request.slot_class].evictor),
        is_silent_(state.disk && demote_is_silent(state)),
        victims_(state.evict_scratch.victims),
        passed_over_(state.evict_scratch.passed_over) {
    victims_.clear();
    passed_over_.clear();
    state.evict_scratch.unsaved.clear();
  }

  std::span<const BlockId> run() {
    const std::uint32_t passed_over_max = request_.scan_max * kEvictPassedOverFactor;
    std::uint32_t left = request_.count + request_.scan_max;
    std::uint32_t unseen = evictor_.size();
    BlockId next = evictor_.coldest();
    while (is_short() && left > 0 && unseen-- > 0 && next != BlockId::kNone &&
           passed_over_.size() < passed_over_max) {
      const BlockId id = next;
      next = evictor_.after(id);
      if (look_at(id, next) != Code::kExists) --left;
    }
    defer_passed_over();
    return victims_;
  }

 private:
  [[nodiscard]] bool is_short() const { return victims_.size() < request_.count; }

  Code look_at(BlockId id, BlockId next) {
    const Code code = try_take(id);
    if (code == Code::kOk) take_ancestors(id, next);
    if (code == Code::kBusy) evictor_.defer(id);
    if (code == Code::kExists) pass_over(id);
    return code;
  }

  Code try_take(BlockId id) {
    ++state_.stats.evict_scanned;
    const Slab& slab = state_.slab_of(state_.blocks[id].slot);
    if (request_.session != nullptr && !lending_allows(slab, *request_.session)) return Code::kDenied;
    if (has(id, kBlockWanted)) return Code::kDenied;
    if (is_spared(id)) return spare(id);
    if (has(id, kBlockNamed) && !has(id, kBlockOnDisk)) return Code::kDenied;
    const Code code = evict_begin(state_, id);
    if (code == Code::kOk) victims_.push_back(id);
    if (code == Code::kBusy) pass_.pinned += 1 + kept_with(id);
    return code;
  }

  // What it continues stays as well.
  [[nodiscard]] std::uint32_t kept_with(BlockId id) const {
    std::uint32_t count = 0;
    for (BlockId up = state_.blocks[id].parent; up != BlockId::kNone && count < kKeptLook;
         up = state_.blocks[up].parent) {
      ++count;
    }
    return count;
  }

  [[nodiscard]] bool is_spared(BlockId id) const {
    return has(id, kBlockStoring) || (request_.spares_unsaved && demote_wants(state_, id));
  }

  // Keeps its place: it is next once it is on disk. What a tier reads that says nothing is like what is leased: not looked
  // at again before the others.
  Code spare(BlockId id) {
    if (!state_.tree->has_only_leaving_children(id)) return Code::kExists;
    if (has(id, kBlockStoring) && is_silent_) evictor_.defer(id);
    std::vector<BlockId>& unsaved = state_.evict_scratch.unsaved;
    if (!has(id, kBlockStoring) && unsaved.size() < unsaved.capacity()) unsaved.push_back(id);
    ++pass_.unsaved;
    return Code::kPending;
  }

  // Those that were passed over are colder than all that is still to be looked at: they are next. So are those that the
  // evictor would have come to first, had it known that what continues them leaves.
  void take_ancestors(BlockId id, BlockId next) {
    for (BlockId up = state_.blocks[id].parent; up != BlockId::kNone && is_short();
         up = state_.blocks[up].parent) {
      if (!has(up, kBlockPassedOver) && !is_next(up, next)) return;
      if (try_take(up) != Code::kOk) return;
    }
  }

  bool is_next(BlockId id, BlockId next) {
    const bool is_ready = state_.blocks[id].state == BlockState::kReady && !has(id, kBlockUnverified);
    return is_ready && state_.tree->has_only_leaving_children(id) && evictor_.became_leaf(id, next);
  }

  void pass_over(BlockId id) {
    state_.blocks[id].flags |= kBlockPassedOver;
    passed_over_.push_back(id);
  }

  // To the hot end, children before parents: prefixes that were used block by block lie the other way round, and the
  // next pass would pass over all of them again.
  void defer_passed_over() {
    if (request_.spares_unsaved) return forget_passed_over();
    for (const BlockId id : passed_over_) {
      const BlockId parent = state_.blocks[id].parent;
      if (parent != BlockId::kNone && has(id, kBlockPassedOver) && has(parent, kBlockPassedOver))
        state_.blocks[parent].flags |= kBlockChildPassedOver;
    }
    for (const BlockId id : passed_over_) {
      if (!has(id, kBlockChildPassedOver)) defer_upwards(id);
    }
  }

  // What is cold stays so: it leaves when what is below it is on disk.
  void forget_passed_over() {
    for (const BlockId id : passed_over_) {
      state_.blocks[id].flags &= static_cast<std::uint16_t>(~kBlockPassedOver);
      if (state_.blocks[id].state == BlockState::kReady) evictor_.passed_over(id, true);
    }
  }

  void defer_upwards(BlockId id) {
    for (; id != BlockId::kNone && has(id, kBlockPassedOver); id = state_.blocks[id].parent) {
      BlockRecord& record = state_.blocks[id];
      record.flags &= static_cast<std::uint16_t>(~(kBlockPassedOver | kBlockChildPassedOver));
      if (record.state == BlockState::kReady) evictor_.passed_over(id, false);
    }
  }

  [[nodiscard]] bool has(BlockId id, std::uint16_t flag) const {
    return (state_.blocks[id].flags & flag) != 0;
  }

  StoreState& state_;
  const EvictRequest& request_;
  EvictPass& pass_;
  Evictor& evictor_;
  const bool is_silent_;
  std::vector<BlockId>& victims_;
  std::vector<BlockId>& passed_over_;
};

}  // namespace

std::span<const BlockId> evict_gather(StoreState& state, const EvictRequest& request, EvictPass& pass) {
  return Gathering(state, request, pass).run();
}

}  // namespace kvtier
