#include "daemon/flow/disk_mark.h"

#include <algorithm>

#include "daemon/flow/disk_send.h"
#include "daemon/flow/invalidate.h"

namespace kvtier {
namespace {

// Whether the tier knows anything by the name of what was invalidated.
bool is_told(StoreState& state, const Invalidation& job) {
  Tenant& tenant = state.tenants[index_of(job.tenant)];
  if (job.space != SpaceId::kNone) return state.space(tenant, job.space)->is_told;
  return std::ranges::any_of(tenant.spaces, &Space::is_told);
}

void send(StoreState& state, const Invalidation& job, const Key& key) {
  DiskCommand command;
  command.kind = DiskCommandKind::kMark;
  command.tag = make_tag(DiskTag::kMark, job.mark);
  command.tenant = job.tenant;
  command.space = job.space;
  command.key = key;
  disk_send(state, command);
}

}  // namespace

bool disk_delays_invalidations(const StoreState& state) {
  if (!state.disk || state.disk->life > DiskTier::Life::kReady) return false;
  return state.disk->life != DiskTier::Life::kReady || !disk_has_room(state, 1);
}

bool disk_mark(StoreState& state, const Invalidation& job, const Key& key, Code& code) {
  if (!state.disk) {
    if (state.options.is_disk_absent) code = Code::kUnavailable;
    return false;
  }
  if (state.disk->life != DiskTier::Life::kReady) {
    code = Code::kUnavailable;  // what is on disk may come back with it
    return false;
  }
  if (!is_told(state, job)) return false;
  state.marking.push_back(job);
  state.marking.back().mark = ++state.disk->next_mark;
  send(state, state.marking.back(), key);
  return true;
}

void disk_on_marked(StoreState& state, const DiskNews& news) {
  const auto job = std::ranges::find(state.marking, tag_number(news.tag), &Invalidation::mark);
  KV_CHECK(job != state.marking.end(), "an answer is to a mark that was sent");
  const Invalidation done = *job;
  state.marking.erase(job);
  invalidation_answer(state, done, news.code);
}

void disk_give_up(StoreState& state) {
  for (const Invalidation& job : state.marking) invalidation_answer(state, job, Code::kUnavailable);
  state.marking.clear();
}

}  // namespace kvtier
