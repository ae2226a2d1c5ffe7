// How ClientSlots commits. Include client_slots.hpp.
#ifndef KVCLIENT_CLIENT_SLOTS_COMMIT_HPP
#define KVCLIENT_CLIENT_SLOTS_COMMIT_HPP

#include "kvclient/client_slots.hpp"

namespace kvclient {

// What takes memory comes first: it can throw, and nothing has changed then.
inline void ClientSlots::commit(std::span<BlockCommit> blocks) {
  make_room(1);
  const SharedLease lease = make_lease(blocks.size());
  std::vector<kvc_slot> slots(blocks.size());
  std::size_t placed = 0;
  int stopped = KVC_OK;
  while (placed < blocks.size() && stopped == KVC_OK) {
    stopped = place(blocks[placed], slots[placed]);
    placed += stopped == KVC_OK ? 1 : 0;
  }
  // One that follows a block that is not public is not made so either.
  for (BlockCommit& block : blocks.subspan(placed)) block.code = stopped;
  const int code = kvc_commit_acquire(space_, slots.data(), placed, options_.deadline_ns, lease.get());
  for (std::size_t i = 0; i < placed; ++i) {
    const void* held = i < kvc_lease_count(lease.get()) ? kvc_lease_blocks(lease.get())[i] : nullptr;
    if (held != nullptr)
      take_over(blocks[i], {.data = const_cast<void*>(held), .slot = {}, .key = {}, .lease = lease});
    else
      keep_or_lose(blocks[i], slots[i], code);
  }
}

// The slot that is committed for a block: its own, or one of its key with a copy. KVC_EXISTS in `to`: there is a block.
inline int ClientSlots::place(const BlockCommit& block, kvc_slot& to) {
  const Entry& from = at(block.slot);
  if (is_in_place(block)) {
    to = from.slot;
    return KVC_OK;
  }
  const kvc_reserve_options options{sizeof options, block.parent, options_.deadline_ns, KVC_NO_CLAIM, 0};
  (void)kvc_reserve(space_, &block.key, 1, &options, &to);
  if (to.code == KVC_OK) kvc_copy(to.data, from.data, block_bytes());
  return to.code == KVC_EXISTS ? KVC_OK : to.code;
}

// The block's entry becomes a lease. A private slot whose bytes were copied, or are not needed, goes back.
inline void ClientSlots::take_over(BlockCommit& block, Entry leased) {
  if (!is_in_place(block)) (void)kvc_abort(space_, &at(block.slot).slot, 1, 0, kNoWait);
  at(block.slot) = std::move(leased);
  block.code = KVC_OK;
}

inline void ClientSlots::keep_or_lose(BlockCommit& block, kvc_slot& slot, int code) {
  const bool is_kept = slot.data != nullptr;  // it was not handed over
  block.code = is_kept ? code : slot.code;
  if (is_kept && is_in_place(block)) return;
  if (is_kept) (void)kvc_abort(space_, &slot, 1, 0, kNoWait);
  if (adopt(block) || !is_in_place(block)) return;
  leave(block.slot);
  block.slot = SlotId::kNone;
}

// Somebody's block of the same key, if there is one.
inline bool ClientSlots::adopt(BlockCommit& block) noexcept try {
  SlotId there = SlotId::kNone;
  if (acquire(Keys(&block.key, 1), Acquire::kLeading, {&there, 1}) == 0) return false;
  take_over(block, std::exchange(at(there), {}));
  leave(there);
  return true;
} catch (...) {
  return false;
}

}  // namespace kvclient

#endif  // KVCLIENT_CLIENT_SLOTS_COMMIT_HPP
