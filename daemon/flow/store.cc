#include "daemon/flow/store.h"

#include <algorithm>

#include "daemon/flow/access.h"
#include "daemon/flow/checksums.h"
#include "daemon/flow/directory_growth.h"
#include "daemon/flow/disk_step.h"
#include "daemon/flow/emptying.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/invalidate.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/quota.h"
#include "daemon/flow/state.h"
#include "daemon/flow/store_admin.h"
#include "daemon/flow/submit.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"

namespace kvtier {

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->outbox = &outbox_;
  outbox_.reserve(kOutboxEvents);
  state_->admin = make_store_admin(*state_);
}
Store::~Store() = default;

void Store::submit(SessionIndex index, const Submission& submission) {
  Session* session = state_->session(index);
  if (session == nullptr || session->life != Session::Life::kAttached) return;
  std::string why;
  if (submit_command(*state_, *session, submission, why)) return;
  OutEvent event;
  event.kind = OutEvent::Kind::kEndSession;
  event.session = index;
  event.reason = std::move(why);
  outbox_.push_back(std::move(event));
}

std::size_t Store::do_work() {
  std::size_t work = deferred_step(*state_);
  work += waits_expire(*state_);
  work += pins_expire(*state_);
  work += invalidate_step(*state_);
  work += draining_step(*state_);
  work += quota_step(*state_);
  work += disk_step(*state_);
  work += evict_background(*state_);
  // One growth a turn.
  const std::size_t grown = directory_grow_step(*state_);
  work += grown > 0 || !state_->index->grow_step() ? grown : 1;
  work += emptying_step(*state_);
  work += access_step(*state_);
  return work;
}

TimeNs Store::next_deadline() const {
  if (state_->directories_growing > 0 || state_->index->wants_growth()) return 0;
  return std::min({invalidations_next_ns(*state_), emptying_next_ns(*state_), disk_next_ns(*state_),
                   checksums_next_due(*state_), waits_next_deadline(*state_), deferred_next_deadline(*state_),
                   state_->draining_at_ns, pins_next_expiry(*state_), state_->quota_at_ns});
}

namespace {

// What is cheaper to count when somebody looks than to keep.
void count_gauges(Store::State& state) {
  StoreStats& stats = state.stats;
  stats.host_bytes_huge = state.memory.huge_bytes();
  stats.host_bytes_locked = state.memory.locked_bytes();
  stats.blocks_unsummed = checksums_due_count(state);
  stats.namespaces = state.tenants.size();
  stats.spaces = stats.directory_entries = stats.directory_capacity = stats.zombie_bytes = 0;
  stats.directory_bytes_huge = 0;
  for (const Tenant& tenant : state.tenants) {
    stats.spaces += tenant.spaces.size();
    stats.directory_entries += tenant.directory.size();
    stats.directory_capacity += tenant.directory.capacity();
    stats.directory_bytes_huge += tenant.directory.bytes_huge();
  }
  for (const auto& session : state.sessions) {
    if (session == nullptr || session->life == Session::Life::kAttached) continue;
    stats.zombie_bytes += session->slabs_lent * state.memory.slab_bytes();
  }
}

}  // namespace

void Store::set_limits(const StoreLimits& limits) {
  state_->options.low_water_blocks = limits.low_water_blocks;
  state_->options.pinned_percent_client = limits.pinned_percent_client;
  state_->options.pinned_percent_namespace = limits.pinned_percent_namespace;
}

const Status& Store::lock_refusal() const {
  return state_->memory.lock_refusal();
}

const StoreStats& Store::stats() const {
  StoreStats& stats = state_->stats;
  count_gauges(*state_);
  stats.metadata_bytes = state_->blocks.bytes_resident() + state_->index->bytes_resident();
  stats.policy_bytes = order_bytes(*state_);
  stats.ghost_hits = order_ghost_hits(*state_);
  if (state_->disk) stats.metadata_bytes += state_->disk->locators.size() * sizeof(DiskLocator);
  for (const Tenant& tenant : state_->tenants) {
    stats.metadata_bytes += tenant.directory.bytes_reserved();
    for (const SlabIndex index : tenant.slabs) {
      const Slab& slab = state_->memory.slab(index);
      stats.metadata_bytes += slab.table_bytes_resident() + slab.slot_count() * 2ULL * sizeof(std::uint32_t);
    }
  }
  return stats;
}

void Store::namespace_limit(std::string_view name, std::uint64_t bytes_max) {
  quota_set(*state_, name, bytes_max);
}

std::optional<ChecksumJob> Store::checksum_next() {
  return checksum_take(*state_);
}

void Store::checksum_done(const ChecksumJob& job, std::uint64_t sum) {
  checksum_put(*state_, job, sum);
}

const CorruptBlocks& Store::corrupt() const {
  return state_->corrupt;
}

std::uint64_t Store::unverified_count() const {
  return state_->unverified;
}

const std::string& Store::cold_reason() const {
  return state_->cold_reason;
}

StoreAdmin& Store::admin() {
  return *state_->admin;
}

}  // namespace kvtier
