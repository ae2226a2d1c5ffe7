#include "daemon/flow/access.h"

#include <algorithm>

namespace kvtier {
namespace {

bool is_known(StoreState& state, const Tenant& tenant, const AccessRecord& record, BlockId& id) {
  if (record.last.slab() >= state.memory.slab_count()) return false;
  const Slab& slab = state.slab_of(record.last);
  if (slab.owner() != tenant.id) return false;
  id = slab.block(record.last.slot());
  return id != BlockId::kNone;
}

void touch(StoreState& state, BlockId id, std::uint32_t now_ms) {
  BlockRecord& record = state.blocks[id];
  record.access_ms = now_ms;
  state.class_of(record).evictor->access(id);
}

// On from `at`, which is left at the block that comes next; returns the blocks touched.
std::uint32_t touch_up(StoreState& state, BlockId& at, std::uint32_t count, bool is_hit) {
  const auto now_ms = static_cast<std::uint32_t>(state.now() / kNsPerMs);
  std::uint32_t touched = 0;
  for (; at != BlockId::kNone && touched < count; ++touched) {
    BlockRecord& record = state.blocks[at];
    if (is_hit) record.flags |= kBlockUsed;
    // An adopted block is on no evictor's list before its checksum was compared.
    if (record.state == BlockState::kReady && (record.flags & kBlockUnverified) == 0) {
      if (is_hit) ++record.hits;
      if (now_ms - record.access_ms >= kRecencyGrainMs) touch(state, at, now_ms);
    } else if (record.state == BlockState::kCold && now_ms - record.access_ms >= kRecencyGrainMs) {
      state.tenants[record.tenant].cold->access(at);
      record.access_ms = now_ms;
    }
    at = record.parent;
  }
  return touched;
}

// Blocks come and go between two turns, and their records serve others.
bool is_still_there(StoreState& state, const Tenant& tenant, const AccessRest& rest) {
  const BlockRecord& record = state.blocks[rest.at];
  return record.state != BlockState::kFree && record.tenant == index_of(tenant.id) &&
         record.space == rest.space && record.key == rest.key;
}

bool begin_record(StoreState& state, const Tenant& tenant, AccessRest& rest) {
  const AccessRecord& record = rest.records[rest.next];
  rest.left = record.count;
  if (is_known(state, tenant, record, rest.at)) return true;
  ++state.stats.access_records_invalid;
  return false;
}

// One record, to its end or as far as the steps go. Returns the steps, at least one.
std::uint32_t follow(StoreState& state, const Tenant& tenant, AccessRest& rest, std::uint32_t steps_max) {
  const bool is_begun = rest.left > 0;
  std::uint32_t touched = 0;
  if (is_begun ? is_still_there(state, tenant, rest) : begin_record(state, tenant, rest))
    touched = touch_up(state, rest.at, std::min(rest.left, steps_max), true);
  state.stats.hits_host += touched;
  rest.left -= touched;
  if (touched == 0 || rest.at == BlockId::kNone) rest.left = 0;
  if (rest.left == 0) {
    ++rest.next;
  } else {
    rest.space = state.blocks[rest.at].space;
    rest.key = state.blocks[rest.at].key;
  }
  return std::max(touched, 1U);
}

// The next records of its log. True: there may be more behind them.
bool take_records(StoreState& state, Session& session) {
  AccessRest& rest = session.access_rest;
  const std::uint64_t lost_before = session.access_log.lost_count();
  rest.next = 0;
  rest.count = static_cast<std::uint32_t>(session.access_log.drain(rest.records));
  state.stats.access_records += rest.count;
  state.stats.access_records_lost += session.access_log.lost_count() - lost_before;
  return rest.count == rest.records.size();
}

std::uint32_t drain_session(StoreState& state, const Tenant& tenant, Session& session,
                            std::uint32_t steps_max) {
  AccessRest& rest = session.access_rest;
  std::uint32_t steps = 0;
  bool may_be_more = true;
  while (steps < steps_max) {
    if (rest.next == rest.count) {
      if (!may_be_more) break;
      may_be_more = take_records(state, session);
      if (rest.count == 0) break;
    }
    steps += follow(state, tenant, rest, steps_max - steps);
  }
  return steps;
}

// Whoever comes behind the one that used the steps up is first the next time.
std::uint32_t drain_tenant(StoreState& state, Tenant& tenant, std::uint32_t steps_max) {
  std::uint32_t steps = 0;
  const std::size_t count = tenant.sessions.size();
  const std::size_t first = tenant.access_first;
  for (std::size_t i = 0; i < count && steps < steps_max; ++i) {
    const std::size_t at = (first + i) % count;
    steps += drain_session(state, tenant, *state.session(tenant.sessions[at]), steps_max - steps);
    tenant.access_first = steps < steps_max ? first : at + 1;
  }
  return steps;
}

}  // namespace

std::uint32_t access_touch_run(StoreState& state, BlockId last, std::uint32_t count, bool is_hit) {
  return touch_up(state, last, count, is_hit);
}

void access_before_pass(StoreState& state, Tenant& tenant) {
  state.access_steps_used += drain_tenant(state, tenant, kAccessStepsMax - state.access_steps_used);
}

std::size_t access_step(StoreState& state) {
  std::uint32_t steps = 0;
  const std::size_t count = state.tenants.size();
  const std::size_t first = state.access_first;
  for (std::size_t i = 0; i < count && steps < kAccessStepsMax; ++i) {
    const std::size_t at = (first + i) % count;
    steps += drain_tenant(state, state.tenants[at], kAccessStepsMax - steps);
    state.access_first = steps < kAccessStepsMax ? first : at + 1;
  }
  state.access_steps_used = 0;
  return steps;
}

}  // namespace kvtier
