#pragma once
// Everything that the store holds. The verbs (one file each) are free functions over it. Thread: the
// conductor.

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "daemon/flow/checksum_queue.h"
#include "daemon/flow/directory.h"
#include "daemon/flow/disk_tier.h"
#include "daemon/flow/eviction_order.h"
#include "daemon/flow/session.h"
#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "daemon/flow/sync_job.h"
#include "daemon/flow/tenant.h"
#include "daemon/flow/wait_table.h"
#include "daemon/index/key_index.h"
#include "daemon/memory/host_memory.h"
#include "daemon/model/block_table.h"
#include "daemon/model/restart_state.h"
#include "daemon/policy/evictor.h"
#include "daemon/policy/prefix_tree.h"
#include "daemon/policy/reuse_entry.h"
#include "libkvclient/base/prng.h"
#include "libkvclient/wire/access_log.h"
#include "libkvclient/wire/pins.h"
#include "libkvclient/wire/spec.h"

namespace kvtier {

/// One client's kPin of a block.
struct Pin {
  TimeNs expires_ns = 0;
  SessionIndex session = SessionIndex::kNone;
  std::uint32_t pid = 0;         ///< of the session, which may close before the pin ends
  std::uint64_t session_id = 0;  ///< 0: there is none
  std::uint32_t uid = 0;
};

/// Of the pins of a block in force the two that last longest, of different clients.
struct PinHold {
  Pin first;
  Pin second;
};

struct PinExpiry {
  TimeNs expires_ns = 0;
  std::uint32_t block = 0;
  std::uint64_t session_id = 0;
  friend bool operator<(const PinExpiry& a, const PinExpiry& b) {
    return std::tie(a.expires_ns, a.block, a.session_id) < std::tie(b.expires_ns, b.block, b.session_id);
  }
};

/// What one client has pinned.
struct Pinner {
  NamespaceId tenant = NamespaceId::kNone;
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  std::uint64_t seen_pass = 0;  ///< the last eviction pass that one of its pins stopped, and
  std::uint32_t seen = 0;       ///< how many did
};

/// A kReserve that waits for a slab's writer to acknowledge its revocation, or for blocks to be written to disk.
struct Deferred {
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;
  Submission submission{};
  TimeNs give_up_ns = 0;                    ///< others are not waited for any longer
  TimeNs saving_give_up_ns = 0;             ///< nor are blocks that are being saved
  bool is_for_saving = false;               ///< what it waits for now
  NamespaceId tenant = NamespaceId::kNone;  ///< with is_for_saving: whose blocks
  std::uint32_t slot_class = 0;             ///< and of which class
  std::uint32_t unsaved = 0;                ///< so many of them are to be saved before it is tried again
  bool is_ready = false;                    ///< an acknowledgement, or what was saved, came: try again
};

/// An invalidation in progress: walks the block table in steps.
struct Invalidation {
  NamespaceId tenant = NamespaceId::kNone;
  SpaceId space = SpaceId::kNone;  ///< kNone: all of the namespace
  std::uint32_t next_block = 0;
  std::uint32_t count = 0;
  SessionIndex session = SessionIndex::kNone;
  std::uint64_t session_id = 0;
  std::uint32_t request_id = 0;
  bool is_disowned = false;  ///< its session hung up since: goes on, counts as that session's, answers nobody
  std::uint64_t mark = 0;    ///< once the walk is over: the number of the kMark that is waited for
  std::uint64_t purge = 0;   ///< an administrator's: what is told of its end; 0: a client's
};

/// What an administrator removes from memory and disk (purge.h): how much of it has not ended.
struct Purge {
  std::uint64_t number = 0;
  std::uint64_t open = 0;   ///< invalidations and marks
  std::uint64_t count = 0;  ///< blocks that the ended ones took
  Code code = Code::kOk;    ///< of the last one that failed
};

/// Why a slab is emptied.
struct EmptyingPurpose {
  bool is_leaving = false;      ///< it leaves the namespace; else:
  std::uint32_t wanted_by = 0;  ///< place in Tenant::classes of the one that it will be cut for
};

/// Where the search for holders is (emptying_look.h): in a slot's block, or below it.
struct EmptyingLook {
  std::uint32_t slot = 0;
  BlockId at = BlockId::kNone;  ///< kNone: the slot's block was not looked at yet
  SlotRef at_slot;              ///< with the generation: `at` is still the same block
  Generation at_generation = 0;
  bool is_climbing = false;   ///< everything below `at` was looked at
  std::uint32_t outside = 0;  ///< blocks found below those of the slab, in other slabs
};

/// A slab that is being emptied (emptying.h).
struct Emptying {
  NamespaceId tenant = NamespaceId::kNone;
  std::uint32_t donor = 0;  ///< its class: place in Tenant::classes
  EmptyingPurpose purpose;
  std::uint64_t attempt = 0;  ///< number of this attempt: marks the slabs that it tried
  SlabIndex slab = SlabIndex::kNone;
  bool is_looking = true;  ///< for holders; else it evicts
  EmptyingLook look;
  std::uint32_t next_slot = 0;   ///< those before it were emptied
  std::uint32_t evicted = 0;     ///< for this slab
  std::uint32_t unlooked = 0;    ///< of them, since holders were looked for
  std::uint32_t tried = 0;       ///< slabs
  KeptSlabs kept;                ///< of them
  std::uint32_t closed_pid = 0;  ///< whose pins kept one of them, last, though it closed; 0: nobody's
  bool is_done = false;          ///< empty; kept for a turn for the class that wants it
  TimeNs saving_until_ns = 0;    ///< a block is being written to disk: waited for until then; 0: none is
};

struct TakenSlot {
  SlotRef slot;
  Generation generation = 0;
};

/// What slots_take found (slots.h).
struct SlotOutcome {
  std::vector<TakenSlot> slots;    ///< in state writing, lent to the session
  Cause cause = Cause::kNone;      ///< why there are fewer than asked for
  std::uint32_t holder_pid = 0;    ///< with kPinnedBy and kWriterBusy
  std::uint32_t pinned_count = 0;  ///< with kPinnedBy: blocks that the search met
  std::uint32_t missing = 0;       ///< fewer than asked for by so many
  bool could_wait = false;         ///< a revocation, or a put, is under way: defer and try again
  bool is_for_saving = false;      ///< with could_wait: a put

  void clear() {
    slots.clear();
    cause = Cause::kNone;
    holder_pid = pinned_count = missing = 0;
    could_wait = is_for_saving = false;
  }
};

/// A block of an earlier instance, invisible until its checksum was compared.
struct AdoptedBlock {
  BlockId block = BlockId::kNone;
  Generation generation = 0;
  BlockId parent = BlockId::kNone;
};

/// A block whose bytes are to be compared with its sum again (doubts.h).
struct Doubt {
  BlockId block = BlockId::kNone;
  Generation generation = 0;
  bool is_restored = false;  ///< what is looked at came from its copy on disk
};

/// What one command works on, taken at start for the largest: a verb takes no memory. Each has one user at a
/// time, who leaves rubbish in it.
struct Scratch {
  Scratch() {
    keys.reserve(kRequestKeysMax);
    holds.reserve(kRequestKeysMax);
    results.reserve(kRequestKeysMax);
    taken.slots.reserve(kRequestKeysMax);
    blocks.reserve(kRequestKeysMax);
    sums.reserve(kRequestKeysMax);
  }
  std::vector<Key> keys;               ///< submit: copied out of the arena
  std::vector<Hold> holds;             ///< submit
  std::vector<ReserveResult> results;  ///< reserve
  SlotOutcome taken;                   ///< slots_take
  std::vector<BlockId> blocks;         ///< wait, sums: those that are pending
  std::vector<SumEntry> sums;          ///< sums: copied out of the arena
};

/// What an eviction pass works with; kept, so that no pass allocates.
struct EvictScratch {
  std::vector<BlockId> victims;
  std::vector<BlockId> passed_over;
  std::vector<BlockId> unsaved;  ///< passed over because they are not on disk yet: the first of them
};

struct Store::State {
  // constant after construction
  StoreOptions options;
  const Clock* clock = nullptr;
  FdStore* fds = nullptr;
  std::uint64_t pins_stride = 0;  ///< bytes of pin counters a slab in each channel
  Prng chance{0};
  std::array<std::uint64_t, 2> instance{};

  HostMemory memory;
  BlockTable blocks;
  RestartState restart;
  std::unique_ptr<KeyIndex> index;
  std::optional<Leaves> leaves;
  std::unique_ptr<PrefixTree> tree;
  std::shared_ptr<ReuseEntries> reuse;             ///< what the evictors of all classes know of each block
  std::unique_ptr<DiskTier> disk;                  ///< null: there is no NVMe tier
  std::deque<Tenant> tenants;                      ///< stable addresses
  std::vector<std::unique_ptr<Session>> sessions;  ///< by SessionIndex; null: free place
  std::uint64_t next_session_id = 1;
  Scratch scratch;

  WaitTable waits;
  std::unordered_map<std::uint32_t, PinHold> pin_holds;  ///< by block index
  std::set<PinExpiry> pin_expiries;                      ///< of all pins in pin_holds
  std::map<std::uint64_t, Pinner> pinners;               ///< by session id
  std::vector<Deferred> deferred;                        ///< oldest first
  std::deque<Invalidation> invalidations;                ///< the first one walks
  std::vector<Invalidation> marking;                     ///< have walked: answered when the disk knows
  std::vector<Purge> purges;                             ///< in the order of their numbers
  std::uint64_t next_purge = 0;
  std::vector<SyncJob> syncs;  ///< oldest first; its memory is taken at start
  std::uint64_t next_sync = 0;
  std::size_t sync_turn = 0;
  std::vector<BlockId> draining;  ///< unpublished blocks whose leases are looked at again
  std::size_t draining_next = 0;
  TimeNs draining_at_ns = kNever;
  TimeNs quota_at_ns = kNever;  ///< a namespace may be beyond its limit: looked at then

  ChecksumQueue sums;                 ///< committed blocks whose checksum is to be taken
  std::vector<AdoptedBlock> adopted;  ///< hottest first; those before `adopted_next` were handed out
  std::size_t adopted_next = 0;
  std::vector<Doubt> doubts;    ///< to be summed again; its memory is taken at start
  bool is_doubts_turn = false;  ///< of them and those that were not summed yet, one after the other
  CorruptBlocks corrupt;
  std::uint32_t sums_in_flight = 0;  ///< handed out, not back yet
  std::uint64_t unverified = 0;      ///< adopted blocks that are not visible yet

  std::size_t access_first = 0;         ///< place in `tenants`: whose logs are read first
  std::uint32_t access_steps_used = 0;  ///< in this turn, before eviction passes

  EvictScratch evict_scratch;
  std::uint64_t evict_passes = 0;
  std::uint32_t closed_seen = 0;  ///< candidates that pins of one closed client kept, in this pass: the most
  std::uint32_t closed_pid = 0;   ///< that client's
  std::uint32_t directories_growing = 0;
  std::optional<Emptying> emptying;
  std::uint64_t emptying_attempts = 0;
  PinCensus census;
  std::string cold_reason;
  StoreStats stats;
  std::vector<OutEvent>* outbox = nullptr;
  std::unique_ptr<StoreAdmin> admin;

  [[nodiscard]] TimeNs now() const { return clock->now_ns(); }
  Tenant& tenant_of(const Session& session) { return tenants[index_of(session.tenant)]; }
  Slab& slab_of(SlotRef slot) { return memory.slab(SlabIndex{slot.slab()}); }
  Session* session(SessionIndex at) {
    return index_of(at) < sessions.size() ? sessions[index_of(at)].get() : nullptr;
  }
  /// The session, if its place still holds the one with this id.
  Session* session(SessionIndex at, std::uint64_t id) {
    Session* found = session(at);
    return found != nullptr && found->id == id ? found : nullptr;
  }
  Space* space(Tenant& tenant, SpaceId id) {
    const auto number = static_cast<std::uint32_t>(id);
    return number >= 1 && number <= tenant.spaces.size() ? &tenant.spaces[number - 1] : nullptr;
  }
  Space& space_of(const BlockRecord& record) {
    return tenants[record.tenant].spaces[static_cast<std::uint32_t>(record.space) - 1];
  }
  [[nodiscard]] const Space& space_of(const BlockRecord& record) const {
    return tenants[record.tenant].spaces[static_cast<std::uint32_t>(record.space) - 1];
  }
  SlotClass& class_of(const BlockRecord& record) {
    return tenants[record.tenant].classes[space_of(record).slot_class];
  }
  void complete(const Session& session, const Completion& completion) {
    outbox->push_back(
        {.kind = OutEvent::Kind::kCompletion, .session = session.index, .completion = completion});
  }
};

using StoreState = Store::State;

}  // namespace kvtier
