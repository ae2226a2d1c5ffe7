#include <algorithm>
#include <cstring>
#include <optional>

#include "daemon/flow/access.h"
#include "daemon/flow/cool.h"
#include "daemon/flow/named_blocks.h"
#include "daemon/flow/place.h"
#include "daemon/flow/put.h"
#include "daemon/flow/records.h"
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
  if (record.state == BlockState::kWriting || record.state == BlockState::kRestoring) {
    result.code = (record.flags & kBlockJustReserved) != 0 ? Code::kInvalid : Code::kPending;
    return result;
  }
  result.code = Code::kExists;
  if (record.state == BlockState::kCold) return result;  // on disk: it has no slot
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
  const BlockId id = record_take(state, BlockState::kWriting);
  if (id == BlockId::kNone) return BlockId::kNone;
  if (id == parent) parent = BlockId::kNone;  // it was cold, and gave its record up
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

// A copy that could not be read when it was wanted makes room for one that is computed anew.
BlockId find_usable(const Call& call, const Key& key) {
  const BlockId id = call.state.index->find(call.tenant.id, call.space_id, key);
  if (id == BlockId::kNone || (call.state.blocks[id].flags & kBlockDoubtful) == 0) return id;
  cold_drop(call.state, id);
  return BlockId::kNone;
}

void drop_doubtful(const Call& call, std::span<const Key> keys) {
  for (const Key& key : keys) {
    if (!key.is_zero()) (void)find_usable(call, key);
  }
}

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

ReserveEnd put_reserve(StoreState& state, Session& session, const Submission& submission,
                       const ReserveInput& input, std::span<std::byte> results, const Patience& patience) {
  Tenant& tenant = state.tenant_of(session);
  Space* space = state.space(tenant, submission.space);
  KV_CHECK(space != nullptr, "submit lets known spaces through only");
  Call call{state, session, tenant, *space, submission.space};
  const bool is_all = (submission.flags & kFlagAllOrNothing) != 0;
  drop_doubtful(call, input.keys);
  std::optional<NamedBlocks> named(std::in_place, state, tenant.id, submission.space, input);
  const std::uint32_t wanted = named->new_count();
  SlotOutcome& taken = slots_take(state, {.session = &session,
                                          .tenant = &tenant,
                                          .slot_class = call.space.slot_class,
                                          .count = wanted,
                                          .is_all_or_nothing = is_all,
                                          .may_wait = patience.for_others,
                                          .may_wait_for_saving = patience.for_saving});
  named.reset();  // before blocks get their keys: those are not named
  if (taken.slots.size() < wanted && taken.could_wait) {
    for (const TakenSlot& slot : taken.slots) slots_return(state, slot);
    return taken.is_for_saving ? ReserveEnd::kWaitsForSaving : ReserveEnd::kWaitsForOthers;
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
  return ReserveEnd::kAnswered;
}

}  // namespace kvtier
