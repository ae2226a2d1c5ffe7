#include <algorithm>
#include <cstring>
#include <optional>

#include "daemon/flow/access.h"
#include "daemon/flow/place.h"
#include "daemon/flow/put.h"
#include "daemon/flow/slots.h"
#include "libkvclient/base/check.h"

namespace kvtier {
namespace {

struct Call {
  StoreState& state;
  Session& session;
  Tenant& tenant;
  Space& space;
  SpaceId space_id;
};

ReserveResult classify_existing(const Call& call, BlockId id) {
  const BlockRecord& record = call.state.blocks[id];
  ReserveResult result{};
  if (record.state == BlockState::kWriting) {
    result.code = (record.flags & kBlockJustReserved) != 0 ? Code::kInvalid : Code::kPending;
    return result;
  }
  result.code = Code::kExists;
  result.slot = record.slot;
  result.generation = record.generation;
  return result;
}

void fill_record(const Call& call, BlockId id, const Key& key, const TakenSlot& taken) {
  BlockRecord& record = call.state.blocks[id];
  record.key = key;
  record.space = call.space_id;
  record.tenant = static_cast<std::uint16_t>(index_of(call.tenant.id));
  record.slot = taken.slot;
  record.generation = taken.generation;
  record.writer = static_cast<std::uint16_t>(index_of(call.session.index));
  record.flags = kBlockJustReserved;
}

// Links and counts after the steps that can fail.
BlockId place(const Call& call, const Key& key, BlockId parent, const TakenSlot& taken) {
  StoreState& state = call.state;
  const BlockId id = state.blocks.allocate();
  if (id == BlockId::kNone) return BlockId::kNone;
  fill_record(call, id, key, taken);
  if (place_block(state, id, parent) != Code::kOk) {
    state.blocks.free(id);
    return BlockId::kNone;
  }
  state.slab_of(taken.slot).set_block(taken.slot.slot(), id);
  writing_link(state, call.session, id);
  ++call.space.blocks;
  return id;
}

// The blocks that a call names stay while it looks for room: what is answered as there must be there, and no prefix
// makes room for its own end.
class NamedBlocks {
 public:
  NamedBlocks(const Call& call, const ReserveInput& input) : call_(call), input_(input) {
    for (const Key& key : input.keys) {
      if (!key.is_zero() && !set(key, true)) ++new_count_;
    }
    if (!input.parent.is_zero()) set(input.parent, true);
  }
  NamedBlocks(const NamedBlocks&) = delete;
  NamedBlocks& operator=(const NamedBlocks&) = delete;
  ~NamedBlocks() {
    for (const Key& key : input_.keys) set(key, false);
    set(input_.parent, false);
  }

  [[nodiscard]] std::uint32_t new_count() const { return new_count_; }

 private:
  bool set(const Key& key, bool is_named) const {
    const BlockId id = call_.state.index->find(call_.tenant.id, call_.space_id, key);
    if (id == BlockId::kNone) return false;
    std::uint16_t& flags = call_.state.blocks[id].flags;
    flags = static_cast<std::uint16_t>(is_named ? flags | kBlockNamed : flags & ~kBlockNamed);
    return true;
  }

  const Call& call_;
  const ReserveInput& input_;
  std::uint32_t new_count_ = 0;
};

void count_no_space(StoreStats& stats, Cause cause) {
  switch (cause) {
    case Cause::kTierFull:
      ++stats.no_space_full;
      break;
    case Cause::kPinnedBy:
      ++stats.no_space_pinned;
      break;
    case Cause::kQuota:
      ++stats.no_space_quota;
      break;
    case Cause::kWriterBusy:
      ++stats.no_space_writer_busy;
      break;
    default:
      ++stats.no_space_other;
      break;
  }
}

struct Placing {
  std::vector<ReserveResult>& results;
  std::uint32_t new_count = 0;
  bool is_short = false;
  BlockId last_existing = BlockId::kNone;
};

ReserveResult granted(const Call& call, BlockId id) {
  const BlockRecord& record = call.state.blocks[id];
  ReserveResult result{};
  result.slot = record.slot;
  result.hold = {index_of(id), static_cast<std::uint32_t>(record.generation)};
  result.generation = record.generation;
  return result;
}

ReserveResult reuse(const Call& call, BlockId id, BlockId parent, Placing& out) {
  const ReserveResult result = classify_existing(call, id);
  ++(result.code == Code::kExists ? call.state.stats.reserve_exists : call.state.stats.reserve_pending);
  place_orphan(call.state, id, parent);
  if (result.code == Code::kExists) out.last_existing = id;
  return result;
}

ReserveResult refuse(const Call& call, Cause cause, Placing& out) {
  ReserveResult result{};
  result.code = Code::kNoSpace;
  result.cause = cause;
  out.is_short = true;
  count_no_space(call.state.stats, cause);
  return result;
}

// Answers one key; returns its block, the parent of the next one.
BlockId place_one(const Call& call, const Key& key, BlockId parent, SlotOutcome& taken, Placing& out) {
  if (key.is_zero()) {
    ReserveResult result{};
    result.code = Code::kInvalid;
    out.results.push_back(result);
    return BlockId::kNone;
  }
  if (const BlockId id = call.state.index->find(call.tenant.id, call.space_id, key); id != BlockId::kNone) {
    out.results.push_back(reuse(call, id, parent, out));
    return id;
  }
  if (taken.slots.empty()) {
    out.results.push_back(refuse(call, taken.cause == Cause::kNone ? Cause::kTierFull : taken.cause, out));
    return BlockId::kNone;
  }
  const BlockId id = place(call, key, parent, taken.slots.back());
  if (id == BlockId::kNone) {
    out.results.push_back(refuse(call, Cause::kIndexFull, out));
    return BlockId::kNone;
  }
  taken.slots.pop_back();
  ++out.new_count;
  ++call.state.stats.reserve_new;
  out.results.push_back(granted(call, id));
  return id;
}

// From here on a key that comes again is pending, no mistake of the call.
void end_call(const Call& call, const Placing& placing) {
  for (const ReserveResult& result : placing.results) {
    if (result.code != Code::kOk) continue;
    call.state.blocks[BlockId{result.hold.block}].flags &= static_cast<std::uint16_t>(~kBlockJustReserved);
  }
}

void answer(const Call& call, const Submission& submission, const Placing& placing,
            const SlotOutcome& taken) {
  Completion answer{};
  answer.request_id = submission.request_id;
  answer.count = placing.new_count;
  if (placing.is_short) {
    answer.code = Code::kNoSpace;
    answer.cause = taken.cause == Cause::kNone ? Cause::kIndexFull : taken.cause;
    answer.detail = taken.holder_pid;
  }
  call.state.complete(call.session, answer);
}

}  // namespace

bool put_reserve(StoreState& state, Session& session, const Submission& submission, const ReserveInput& input,
                 std::span<std::byte> results, bool may_wait) {
  Tenant& tenant = state.tenant_of(session);
  Space* space = state.space(tenant, submission.space);
  KV_CHECK(space != nullptr, "submit lets known spaces through only");
  Call call{state, session, tenant, *space, submission.space};
  const bool is_all = (submission.flags & kFlagAllOrNothing) != 0;
  std::optional<NamedBlocks> named(std::in_place, call, input);
  const std::uint32_t wanted = named->new_count();
  SlotOutcome& taken = slots_take(state, {.session = &session,
                                          .tenant = &tenant,
                                          .slot_class = call.space.slot_class,
                                          .count = wanted,
                                          .is_all_or_nothing = is_all,
                                          .may_wait = may_wait});
  named.reset();  // before blocks get their keys: those are not named
  if (taken.slots.size() < wanted && taken.could_wait) {
    for (const TakenSlot& slot : taken.slots) slots_return(state, slot);
    return false;
  }
  BlockId parent =
      input.parent.is_zero() ? BlockId::kNone : state.index->find(tenant.id, submission.space, input.parent);
  if (parent != BlockId::kNone) access_touch_run(state, parent, kTouchAncestorsMax, false);
  std::reverse(taken.slots.begin(), taken.slots.end());
  Placing placing{.results = state.scratch.results};
  placing.results.clear();
  for (const Key& key : input.keys) parent = place_one(call, key, parent, taken, placing);
  end_call(call, placing);
  for (const TakenSlot& left : taken.slots) slots_return(state, left);
  if (placing.last_existing != BlockId::kNone) {
    access_touch_run(state, placing.last_existing, static_cast<std::uint32_t>(input.keys.size()), false);
  }
  std::memcpy(results.data(), placing.results.data(), placing.results.size() * sizeof(ReserveResult));
  answer(call, submission, placing, taken);
  return true;
}

}  // namespace kvtier
