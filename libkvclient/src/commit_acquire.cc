// kvc_commit_acquire. Each slot is pinned while it is still being written; the daemon, which takes the commit after
// that, finds it pinned whenever it looks; once it is published that pin is the lease.

#include "libkvclient/src/options.h"
#include "libkvclient/src/reserve.h"

namespace kvtier::client {
namespace {

/// A slot of the call, pinned ahead of its commit. No pin: it is none of this session's, or its slab is not mapped.
struct Held {
  bool is_reserved = false;  ///< else it is passed over
  PinCell* pin = nullptr;
  const SlotCell* word = nullptr;
  const void* data = nullptr;
  Generation generation = 0;
};

class CommitAcquire {
 public:
  /// Takes all memory that run() needs.
  CommitAcquire(Space& space, std::span<kvc_slot> slots, kvc_lease& lease)
      : space_(space), slots_(slots), lease_(lease), holds_(slots.size()) {
    if (lease.blocks.size() >= slots.size()) return;
    lease.pins.resize(slots.size());
    lease.blocks.resize(slots.size());
  }

  Status run(TimeNs deadline_ns) {
    hold_all();
    try {
      Status status = finish_slots(space_, Op::kCommit, slots_, true, deadline_ns);
      lease_all();
      return status;
    } catch (...) {  // without memory, in the middle: what went out is leased, and no pin stays behind
      lease_all();
      throw;
    }
  }

 private:
  void hold_all() {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      holds_[i].is_reserved = slots_[i].code == KVC_OK && slots_[i].data != nullptr;
    const ReadSection section(space_.core->readers, space_.core->view);
    const View* view = section.view();
    if (view == nullptr) return;
    for (std::size_t i = 0; i < slots_.size(); ++i) hold(*view, slots_[i], holds_[i]);
    // relaxed: inside the read section, as for a lease (acquire.cc).
    view->session->users.fetch_add(1, std::memory_order_relaxed);
    session_ = view->session;
  }

  static void hold(const View& view, const kvc_slot& slot, Held& to) {
    const Grant grant = grant_of(slot);
    const bool is_ours =
        to.is_reserved && slot.private_session == slot_session(view.session->serial, view.epoch);
    if (!is_ours || !view.is_mapped(grant.slot.slab())) return;
    const SlabView& slab = view.slabs[grant.slot.slab()];
    if (grant.slot.slot() >= slab.slots_max) return;
    PinCell& pin = slab.pins[grant.slot.slot()];
    const SlotCell& word = slab.words[grant.slot.slot()];
    const Generation generation = Pins::hold(pin, word, grant.hold.generation_low);
    if (generation != 0) to = {true, &pin, &word, slot.data, generation};
  }

  void lease_all() {
    lease_.count = slots_.size();
    lease_.held = 0;
    for (std::size_t i = 0; i < slots_.size(); ++i) lease_one(i);
    if (lease_.held > 0) {
      lease_.session = session_;
      lease_.block_bytes = space_.block_bytes;
      space_.core->readers.shard().add(Count::kLeasesBegun, 1);
    } else if (session_ != nullptr) {
      // release: the counters of its pins are back before the count that lets the service thread unmap them.
      session_->users.fetch_sub(1, std::memory_order_release);
    }
  }

  void lease_one(std::size_t i) {
    const Held& held = holds_[i];
    kvc_slot& slot = slots_[i];
    const bool is_let_go = held.is_reserved && slot.data == nullptr;
    // A slot that is still the caller's is still being written.
    const bool is_leased = held.pin != nullptr && Pins::keep(*held.pin, *held.word, held.generation);
    lease_.blocks[i] = is_leased ? held.data : nullptr;
    lease_.pins[i] = is_leased ? held.pin : nullptr;
    lease_.held += is_leased ? 1 : 0;
    if (is_leased) slot.code = KVC_OK;
    // Published, and not ours to read: it was invalidated at once, or its slab is not mapped.
    if (is_let_go && !is_leased && slot.code == KVC_OK) slot.code = KVC_NOT_FOUND;
  }

  Space& space_;
  const std::span<kvc_slot> slots_;
  kvc_lease& lease_;
  std::vector<Held> holds_;
  Session* session_ = nullptr;
};

int commit_acquire(Space& space, std::span<kvc_slot> slots, TimeNs deadline_ns, kvc_lease& lease) {
  CommitAcquire call(space, slots, lease);
  return report_counted(*space.core, call.run(deadline_ns));
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_commit_acquire(kvc_space* space, kvc_slot* slots, size_t count, uint64_t deadline_ns,
                                  kvc_lease* lease) try {
  if (space == nullptr || lease == nullptr || (slots == nullptr && count > 0)) {
    return client::report(Code::kInvalid, "kvc_commit_acquire: space, slots and lease must not be NULL");
  }
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  client::Core& core = *space->space->core;
  if (lease->core != space->space->core) {
    return client::report(Code::kInvalid,
                          "kvc_commit_acquire: the lease is of another client than the space");
  }
  if (lease->session != nullptr)
    return client::report(Code::kBusy, "kvc_commit_acquire: the lease holds blocks; release it");
  return client::commit_acquire(*space->space, {slots, count}, client::deadline_of(core, deadline_ns),
                                *lease);
} catch (...) {
  return client::report_exception();
}
