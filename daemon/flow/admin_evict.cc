// kvctl evict and kvctl flush, in bounded steps: no recursion, and nothing is kept between two steps but a
// cursor, whose blocks may have gone when it comes back.

#include <algorithm>

#include "daemon/flow/admin_find.h"
#include "daemon/flow/admin_kept.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/disk_mark.h"
#include "daemon/flow/disk_send.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/purge.h"
#include "daemon/flow/store_admin.h"
#include "daemon/flow/unpublish.h"

namespace kvtier {
namespace {

constexpr std::uint32_t kRestartsMax = 8;

class EvictStep {
 public:
  EvictStep(StoreState& state, const EvictTarget& target, const EvictCursor& from, std::uint32_t work_max)
      : state_(state), is_disk_too_(target.is_disk_too), cursor_(from), budget_(work_max) {
    if (is_disk_too_) budget_ = std::min<std::int64_t>(budget_, std::int64_t{kPurgeMarksMax} * kEvictionWork);
  }

  EvictReport scan(const BlockFilter& filter) {
    if (!cursor_.is_counting) evict_matching(filter);
    if (cursor_.is_counting) count_matching(filter);
    const bool is_over = cursor_.is_counting && cursor_.position >= state_.blocks.limit();
    if (!is_over) report_.next = cursor_;
    return report_;
  }

  EvictReport below(const KeyPrefix& prefix) {
    if (is_disk_too_ && !begin_purge()) return report_;
    while (budget_ > 0) {
      if (cursor_.root.id == BlockId::kNone && !begin_walk(prefix)) break;
      walk();
    }
    const bool is_over =
        cursor_.root.id == BlockId::kNone && admin_find_is_over(state_, prefix, cursor_.position);
    if (!is_over || !end_purge()) report_.next = cursor_;
    return report_;
  }

 private:
  // False: not now, or not at all.
  bool begin_purge() {
    if (cursor_.purge == 0) cursor_.purge = purge_open(state_);
    if (cursor_.purge == 0) {
      report_.status = purge_refusal();
      return false;
    }
    const bool is_shut = !state_.disk || state_.disk->life > DiskTier::Life::kReady;
    if (is_shut || (!disk_delays_invalidations(state_) && disk_has_room(state_, kPurgeMarksMax + 1)))
      return true;
    report_.next = cursor_;
    return false;
  }

  // True: the disk has noted all of it, or there is none.
  bool end_purge() {
    if (cursor_.purge == 0) return true;
    const std::optional<Purge> done = purge_take_done(state_, cursor_.purge);
    if (done) report_.status = purge_status(done->code);
    return done.has_value();
  }

  void evict_matching(const BlockFilter& filter) {
    climb();
    while (budget_ > 0 && cursor_.position < state_.blocks.limit()) {
      --budget_;
      const BlockId id{static_cast<std::uint32_t>(cursor_.position++)};
      if (!admin_matches(state_, filter, state_.blocks[id])) continue;
      cursor_.at = admin_mark(state_, id);
      climb();
    }
    if (cursor_.position >= state_.blocks.limit() && cursor_.at.id == BlockId::kNone)
      cursor_ = {.is_counting = true};
  }

  // Afterwards: whether a parent stays is known only when the blocks behind it in the table were tried.
  void count_matching(const BlockFilter& filter) {
    while (budget_ > 0 && cursor_.position < state_.blocks.limit()) {
      const BlockId id{static_cast<std::uint32_t>(cursor_.position++)};
      const bool is_match = admin_matches(state_, filter, state_.blocks[id]);
      budget_ -= is_match ? kEvictionWork : 1;
      if (is_match) admin_count_kept(state_, id, report_.kept);
    }
  }

  // True: it has gone. Blocks with children are not tried: they wait for those.
  bool evict(BlockId id) {
    if (!is_tried(id)) return false;
    budget_ -= kEvictionWork;
    if (state_.blocks[id].state == BlockState::kCold) {
      purge_mark(state_, id, cursor_.purge);
      cold_drop(state_, id);
    } else {
      const bool is_unsaved =
          !is_disk_too_ && is_disk_there() && (state_.blocks[id].flags & kBlockOnDisk) == 0;
      if (evict_begin(state_, id) != Code::kOk) return false;
      finish(id);
      report_.unsaved += is_unsaved ? 1 : 0;
    }
    ++report_.evicted;
    ++state_.stats.evictions_requested;
    return true;
  }

  [[nodiscard]] bool is_disk_there() const { return state_.disk != nullptr || state_.options.is_disk_absent; }

  [[nodiscard]] bool is_tried(BlockId id) const {
    const BlockState its = state_.blocks[id].state;
    if (!is_disk_too_) return its == BlockState::kReady && !state_.tree->has_host_children(id);
    return (its == BlockState::kReady || its == BlockState::kCold) && !state_.tree->has_children(id);
  }

  void finish(BlockId id) {
    if (!is_disk_too_) return evict_finish(state_, id);
    purge_mark(state_, id, cursor_.purge);
    block_unpublish(state_, id);
    block_free(state_, id);
  }

  void climb() {
    while (budget_ > 0 && cursor_.at.id != BlockId::kNone) cursor_.at = admin_mark(state_, evict_and_climb());
  }

  // Evicts `at`. Returns its parent if that became a leaf and the scan is past it: nobody else would come for
  // it.
  BlockId evict_and_climb() {
    const BlockId id = cursor_.at.id;
    if (!admin_is_there(state_, cursor_.at)) return BlockId::kNone;
    const BlockId parent = state_.blocks[id].parent;
    if (!evict(id) || parent == BlockId::kNone) return BlockId::kNone;
    return index_of(parent) < cursor_.position && is_tried(parent) ? parent : BlockId::kNone;
  }

  bool begin_walk(const KeyPrefix& prefix) {
    const BlockId found = admin_find_next(state_, prefix, cursor_.position, budget_);
    cursor_.root = cursor_.at = admin_mark(state_, found);
    cursor_.is_climbing = false;
    return found != BlockId::kNone;
  }

  // Children before parents, along the links of the tree.
  void walk() {
    if (!admin_is_there(state_, cursor_.at) && !restart()) return end_walk();
    BlockId at = cursor_.at.id;
    while (budget_ > 0 && at != BlockId::kNone) {
      --budget_;
      const BlockRecord& record = state_.blocks[at];
      if (!cursor_.is_climbing && record.first_child != BlockId::kNone) {
        at = record.first_child;
        continue;
      }
      const Key of = record.key;
      const BlockId sibling = record.next_sibling;
      const BlockId up = at == cursor_.root.id ? BlockId::kNone : record.parent;
      if (!evict(at)) {
        count_kept(at);
      } else if (!is_disk_too_ && is_cold(at, of)) {
        ++cursor_.kept.on_disk;
      }
      cursor_.is_climbing = up == BlockId::kNone || sibling == BlockId::kNone;
      at = cursor_.is_climbing ? up : sibling;
    }
    cursor_.at = admin_mark(state_, at);
    if (at == BlockId::kNone) end_walk();
  }

  // What was evicted is on disk now.
  [[nodiscard]] bool is_cold(BlockId id, const Key& key) const {
    return state_.blocks[id].state == BlockState::kCold && state_.blocks[id].key == key;
  }

  void count_kept(BlockId id) {
    budget_ -= kEvictionWork;
    admin_count_kept(state_, id, cursor_.kept);
  }

  // The place is lost: somebody else evicted that block between two steps.
  bool restart() {
    if (!admin_is_there(state_, cursor_.root) || ++cursor_.restarts > kRestartsMax) return false;
    cursor_.at = cursor_.root;
    cursor_.is_climbing = false;
    cursor_.kept = {};
    return true;
  }

  void end_walk() {
    report_.kept.add(cursor_.kept);
    cursor_ = {.position = cursor_.position, .purge = cursor_.purge};
  }

  StoreState& state_;
  const bool is_disk_too_;
  EvictCursor cursor_;
  std::int64_t budget_;
  EvictReport report_;
};

}  // namespace

EvictReport admin_evict(StoreState& state, const EvictTarget& target, const EvictCursor& from,
                        std::uint32_t work_max) {
  EvictTarget what = target;
  what.is_disk_too = target.is_disk_too && (state.disk != nullptr || state.options.is_disk_absent);
  if (what.is_disk_too && what.key_prefix.empty()) return purge_matching(state, what.filter, from);
  EvictStep step(state, what, from, work_max);
  return target.key_prefix.empty() ? step.scan(target.filter) : step.below(KeyPrefix(target.key_prefix));
}

}  // namespace kvtier
