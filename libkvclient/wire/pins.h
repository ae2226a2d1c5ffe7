#pragma once
// The acquire and evict protocol: how a client leases a slot without a message, and how the daemon takes a
// slot back without asking. The argument in full is in MEMORY.md; tests/explore runs all its schedules.
//
//   client:  pin += 1 (P)   then  slot word (L): ready and expected?  leased : pin -= 1, miss
//   daemon:  slot word := evicting (E)  then  every pin (S): all zero?  evicted : slot word := ready
//
// P, L, E and S are seq_cst and therefore lie in one total order that agrees with both programs. If the
// client saw `ready` then L is before E, so P is before S, and the daemon sees the pin. If the daemon saw no
// pin then S is before P, so E is before L, and the client does not see `ready`. With anything weaker both
// can look at old values (store buffering) and the daemon rewrites what a client reads.
//
// A pin counter is in memory that its client writes at will: to the daemon every non-zero value means pinned,
// and it never writes one. A client that lies keeps its own namespace's slot, nothing else.

#include <cstdint>
#include <span>

#include "libkvclient/wire/order_sites.h"
#include "libkvclient/wire/slot_table.h"

namespace kvtier {

enum class EvictOutcome : std::uint8_t {
  kEvicting,  ///< no pin: the slot is the caller's. It removes the entry, then calls retire.
  kPinned,    ///< a pin was seen; the slot is ready again
  kNotReady,  ///< not a ready slot; nothing was changed
};

template <class Memory>
struct PinProtocol {
  using Pin = typename Memory::Cell32;
  using Slot = typename Memory::Cell64;

  // ---- client ----

  /// True: leased until release(); the bytes are those of `expected`. False: a miss, nothing is held.
  static bool acquire(Pin& pin, const Slot& slot, Generation expected) {
    // seq_cst: must be before the load below in the one order that E and S are in (see above).
    Memory::fetch_add(pin, 1U, at<Site::kPinAdd>);
    // seq_cst: the other half of that pair. It also acquires what publish or put_back released: the bytes.
    if (Memory::load(slot, at<Site::kPinSlotLoad>) == ready_word(expected)) [[likely]] {
      return true;
    }
    // relaxed: no byte was read under this pin, so the daemon that sees it gone needs to see nothing else. As
    // a read-modify-write it stays in the release sequence of another thread's release of the same counter.
    Memory::fetch_sub(pin, 1U, at<Site::kPinUndo>);
    return false;
  }

  /// Ends one lease.
  static void release(Pin& pin) {
    // release: all reads of the bytes are before the count that lets the daemon rewrite them (its S
    // acquires).
    Memory::fetch_sub(pin, 1U, at<Site::kPinRelease>);
  }

  /// Pins a slot that its writer still has, ahead of the commit: the daemon takes the commit's record after this, so
  /// that every eviction from then on finds the pin. Returns the slot's generation; 0: the slot is not being written in
  /// the generation that ends so, and nothing is held.
  static Generation hold(Pin& pin, const Slot& slot, std::uint32_t generation_low) {
    // The ring's release and acquire, which come after it, order it before the daemon's S: the site's own order is
    // more than enough.
    Memory::fetch_add(pin, 1U, at<Site::kPinAdd>);
    const SlotWord word = SlotWord::decode(Memory::load(slot, at<Site::kPinSlotLoad>));
    const bool is_writers =
        word.state == SlotState::kWriting && static_cast<std::uint32_t>(word.generation) == generation_low;
    if (is_writers) return word.generation;
    drop(pin);
    return 0;
  }
  /// True: it was published, and the hold is a lease from here on. False: it was not, and nothing is held.
  static bool keep(Pin& pin, const Slot& slot, Generation generation) {
    const SlotWord word = SlotWord::decode(Memory::load(slot, at<Site::kPinSlotLoad>));
    // `evicting` is no miss here, as it is for acquire(): that eviction finds the pin and puts the block back.
    const bool is_published = word.state == SlotState::kReady || word.state == SlotState::kEvicting;
    if (is_published && word.generation == generation) return true;
    drop(pin);
    return false;
  }

  // ---- daemon ----

  static bool is_pinned(const Pin& pin) {
    // seq_cst: S of the argument above. Its acquire half takes over the reads that ended with release().
    return Memory::load(pin, at<Site::kEvictPinLoad>) != 0;
  }

  /// `any_pinned()` looks at is_pinned of every channel that can hold a pin on the slot: it is called after
  /// the slot word changed, and must list the channels then, not before; a client that attaches later finds
  /// no `ready`. A channel leaves the list when its pidfd has reported exit, never earlier.
  template <class AnyPinned>
  requires requires(AnyPinned f) { static_cast<bool>(f()); }
  static EvictOutcome try_evict(Slot& slot, AnyPinned&& any_pinned) {
    const SlotWord word = own(slot);
    if (word.state != SlotState::kReady) return EvictOutcome::kNotReady;
    // seq_cst: E of the argument above.
    Memory::exchange(slot, SlotWord{word.generation, SlotState::kEvicting}.encode(),
                     at<Site::kEvictExchange>);
    if (!any_pinned()) return EvictOutcome::kEvicting;
    put_back(slot);
    return EvictOutcome::kPinned;
  }

  static EvictOutcome try_evict(Slot& slot, std::span<const Pin* const> pins) {
    return try_evict(slot, [pins] {
      for (const Pin* pin : pins) {
        if (is_pinned(*pin)) return true;
      }
      return false;
    });
  }

  /// evicting -> ready. False: not evicting.
  static bool put_back(Slot& slot) {
    const SlotWord word = own(slot);
    if (word.state != SlotState::kEvicting) return false;
    // release: who leases from this word on must see the bytes that the writer handed to the daemon. (A plain
    // store ends the release sequence of publish.)
    Memory::store(slot, ready_word(word.generation), at<Site::kEvictPutBack>);
    return true;
  }

  /// free -> writing under the next generation, which is returned; 0: not free, or no generation is left. The
  /// generation is raised here alone: between two ready states there is always one begin_write.
  static Generation begin_write(Slot& slot) {
    const SlotWord word = own(slot);
    if (word.state != SlotState::kFree || word.generation >= kGenerationMax) return 0;
    // relaxed: the writer gets the slot by a message, which orders; a reader takes every value but its
    // `ready` for a miss, and E already made the last `ready` unreadable for it.
    Memory::store(slot, SlotWord{word.generation + 1, SlotState::kWriting}.encode(),
                  at<Site::kSlotBeginWrite>);
    return word.generation + 1;
  }

  /// writing of `generation` -> ready. False: another state or generation.
  static bool publish(Slot& slot, Generation generation) {
    if (own(slot) != SlotWord{generation, SlotState::kWriting}) return false;
    // release: the bytes are before the word that lets others read them (their L acquires).
    Memory::store(slot, ready_word(generation), at<Site::kSlotPublish>);
    return true;
  }

  /// Any state but ready -> `state` (free or quarantined) with the same generation. False: ready, or there
  /// already.
  static bool retire(Slot& slot, SlotState state = SlotState::kFree) {
    const SlotWord word = own(slot);
    if (word.state == SlotState::kReady || word.state == state) return false;
    // relaxed: as in begin_write; from not-ready to not-ready a reader cannot tell.
    Memory::store(slot, SlotWord{word.generation, state}.encode(), at<Site::kSlotRetire>);
    return true;
  }

 private:
  static void drop(Pin& pin) {
    // relaxed: as the undo of acquire().
    Memory::fetch_sub(pin, 1U, at<Site::kPinUndo>);
  }
  static SlotWord own(const Slot& slot) {
    // relaxed: the daemon is the only writer, so this is its own last store.
    return SlotWord::decode(Memory::load(slot, at<Site::kSlotOwnLoad>));
  }
};

/// The product's instance.
using Pins = PinProtocol<SharedMemory>;
using PinCell = SharedMemory::Cell32;

/// Of one channel, for one slab: a counter a slot.
constexpr std::size_t pin_table_bytes(std::size_t slot_count) {
  return slot_count * sizeof(PinCell);
}

}  // namespace kvtier
