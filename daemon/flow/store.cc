#include "daemon/flow/store.h"

#include <algorithm>

#include "daemon/flow/access.h"
#include "daemon/flow/adopt.h"
#include "daemon/flow/checksums.h"
#include "daemon/flow/evict.h"
#include "daemon/flow/invalidate.h"
#include "daemon/flow/lending.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/sessions.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/state.h"
#include "daemon/flow/store_admin.h"
#include "daemon/flow/submit.h"
#include "daemon/flow/unpublish.h"
#include "daemon/flow/wait.h"
#include "libkvclient/base/entropy.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::uint32_t blocks_max(const StoreOptions& options) {
  if (options.blocks_max != 0) return options.blocks_max;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(options.host_bytes / kSlotAlignment, 1U << 30));
}

RestartSizes restart_sizes(const StoreOptions& options, std::uint32_t slabs) {
  constexpr std::uint64_t kSpecBytesAll = 4 * kMiB;
  return {.tenants_max = options.namespaces_max,
          .spaces_max = options.spaces_max * 4,
          .slabs = slabs,
          .sessions_max = options.sessions_max,
          .spec_bytes_max = kSpecBytesAll};
}

std::uint32_t slab_count(const HostMemoryOptions& options) {
  const std::uint64_t each =
      options.slab_bytes != 0 ? options.slab_bytes : HostMemory::default_slab_bytes(options.bytes);
  return each == 0 ? 0 : static_cast<std::uint32_t>((options.bytes + each - 1) / each);
}

std::unique_ptr<StoreState> make_state(const StoreOptions& options, const Clock& clock, FdStore& fds) {
  auto state = std::make_unique<StoreState>();
  state->options = options;
  state->clock = &clock;
  state->fds = &fds;
  state->chance = Prng(options.seed != 0 ? options.seed : entropy64());
  state->index = std::make_unique<KeyIndex>(state->chance.next());
  state->stats.host_bytes = options.host_bytes;
  return state;
}

Status start_cold(StoreState& state, const HostMemoryOptions& memory_options, const RestartSizes& sizes) {
  state.instance = {state.chance.next(), state.chance.next()};
  Result<HostMemory> memory = HostMemory::create(memory_options, *state.fds);
  if (!memory.is_ok()) return memory.status();
  state.memory = std::move(memory).value();
  Result<BlockTable> blocks = BlockTable::create(blocks_max(state.options), *state.fds);
  if (!blocks.is_ok()) return blocks.status();
  state.blocks = std::move(blocks).value();
  state.tree = std::make_unique<PrefixTree>(state.blocks);
  state.pins_stride = slabs_pins_stride(state.memory);
  Result<RestartState> restart = RestartState::create(sizes, *state.fds);
  if (!restart.is_ok()) return restart.status();
  state.restart = std::move(restart).value();
  RestartHeader& header = state.restart.header();
  header.host_bytes = state.options.host_bytes;
  header.slab_bytes = state.memory.slab_bytes();
  header.blocks_max = blocks_max(state.options);
  header.instance[0] = state.instance[0];
  header.instance[1] = state.instance[1];
  header.next_session_id = state.next_session_id;
  return Status::ok();
}

StoredFds take_stored(FdStore& fds) {
  StoredFds stored;
  for (StoredFd& each : fds.take_all()) stored[each.name] = std::move(each.fd);
  return stored;
}

}  // namespace

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {
  state_->outbox = &outbox_;
  state_->admin = make_store_admin(*state_);
}
Store::~Store() = default;

Result<std::unique_ptr<Store>> Store::create(const StoreOptions& options, const Clock& clock, FdStore& fds) {
  const HostMemoryOptions memory{.bytes = options.host_bytes,
                                 .slab_bytes = options.slab_bytes,
                                 .use_huge_pages = options.use_huge_pages,
                                 .available = options.memory_available};
  const RestartSizes sizes = restart_sizes(options, slab_count(memory));
  StoredFds stored = take_stored(fds);
  std::vector<std::string> names;
  for (const auto& [name, fd] : stored) names.push_back(name);
  std::unique_ptr<State> state = make_state(options, clock, fds);
  if (!stored.empty()) {
    const Status adopted = adopt_all(*state, memory, sizes, blocks_max(options), std::move(stored));
    if (!adopted.is_ok()) {
      // The memory of the earlier instance goes first: the tier is never held twice by us.
      state = make_state(options, clock, fds);
      state->cold_reason = adopted.to_string();
      for (const std::string& name : names) fds.remove(name);
      KV_RETURN_IF_ERROR(start_cold(*state, memory, sizes));
    }
  } else {
    KV_RETURN_IF_ERROR(start_cold(*state, memory, sizes));
  }
  state->stats.slabs_total = state->memory.slab_count();
  return std::unique_ptr<Store>(new Store(std::move(state)));
}

Result<SessionGrant> Store::session_open(const SessionRequest& request) {
  return kvtier::session_open(*state_, request);
}

Result<SessionGrant> Store::session_resume(std::uint64_t session_id, const std::uint64_t (&secret)[2],
                                           const SessionRequest&) {
  for (const auto& session : state_->sessions) {
    if (session == nullptr || session->id != session_id || session->life != Session::Life::kAdopted) continue;
    if (session->secret[0] != secret[0] || session->secret[1] != secret[1]) break;
    session->life = Session::Life::kAttached;
    --state_->stats.zombies;
    ++state_->stats.sessions_resumed;
    session->pidfd.reset();
    lending_resumed(*state_, *session);
    return session_grant(*state_, *session);
  }
  return Status(Code::kStale, "session " + std::to_string(session_id) + " is not known any more");
}

std::vector<std::pair<SessionIndex, int>> Store::adopted_sessions() const {
  std::vector<std::pair<SessionIndex, int>> result;
  for (const auto& session : state_->sessions) {
    if (session != nullptr && session->life == Session::Life::kAdopted) {
      result.emplace_back(session->index, session->pidfd.get());
    }
  }
  return result;
}

void Store::session_keep_pidfd(SessionIndex index, int pidfd) {
  const Session* session = state_->session(index);
  if (session == nullptr) return;
  // Not kept: the next instance does not adopt this session, nor the slabs that it mapped. Counted where it
  // adopts.
  (void)state_->fds->put("session" + std::to_string(session->id) + ".pidfd", pidfd);
}

void Store::session_hang_up(SessionIndex index) {
  if (Session* session = state_->session(index); session != nullptr)
    kvtier::session_hang_up(*state_, *session);
}

void Store::session_exited(SessionIndex index) {
  if (Session* session = state_->session(index); session != nullptr)
    kvtier::session_exited(*state_, *session);
}

Result<SpaceGrant> Store::space_register(SessionIndex index, std::span<const std::byte> spec) {
  Session* session = state_->session(index);
  if (session == nullptr) return Status(Code::kStale, "the session has ended");
  return kvtier::space_register(*state_, *session, spec);
}

std::vector<SlabIndex> Store::slabs_of(SessionIndex index) const {
  const Session* session = state_->session(index);
  return session == nullptr ? std::vector<SlabIndex>() : state_->tenant_of(*session).slabs;
}

Result<SlabGrant> Store::slab_grant(SessionIndex index, SlabIndex slab_index) {
  const Session* session = state_->session(index);
  if (session == nullptr || index_of(slab_index) >= state_->memory.slab_count()) {
    return Status(Code::kStale, "no such session or slab");
  }
  const Slab& slab = state_->memory.slab(slab_index);
  if (slab.owner() != session->tenant) return Status(Code::kDenied, "the slab belongs to another namespace");
  const bool is_writable = !session->request.is_read_only;
  SlabGrant grant;
  grant.data_fd = slab.data_fd(is_writable);
  grant.table_fd = slab.table_fd();
  grant.message.slab = index_of(slab_index);
  grant.message.flags = is_writable ? kSlabWritable : 0;
  grant.message.slab_bytes = slab.bytes();
  grant.message.table_bytes = slab.table_bytes();
  grant.message.pins_offset = index_of(slab_index) * state_->pins_stride;
  grant.message.slots_max = slab.slots_max();
  return grant;
}

void Store::slab_acknowledged(SessionIndex index, const SlabAck& ack) {
  Session* session = state_->session(index);
  if (session == nullptr) return;
  lending_acknowledged(*state_, *session, ack);
  rebalance_unmapped(*state_, *session, ack);
}

DirectoryGrant Store::directory_grant(SessionIndex index) const {
  const Session* session = state_->session(index);
  if (session == nullptr) return {};
  const Tenant& tenant = state_->tenant_of(*session);
  return {tenant.directory.read_fd.get(), tenant.directory.mapping.size(), tenant.directory_epoch};
}

void Store::directory_acknowledged(SessionIndex, std::uint64_t) {
}  // the old memfd is gone with its last mapping

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
  work += evict_background(*state_);
  for (Tenant& tenant : state_->tenants) work += access_drain(*state_, tenant, kAccessTouchesMax);
  return work;
}

TimeNs Store::next_deadline() const {
  if (!state_->invalidations.empty()) return 0;
  return std::min({checksums_next_due(*state_), waits_next_deadline(*state_), deferred_next_deadline(*state_),
                   state_->draining_at_ns, state_->pins_expire_at_ns});
}

const StoreStats& Store::stats() const {
  StoreStats& stats = state_->stats;
  stats.metadata_bytes = state_->blocks.bytes_resident() + state_->index->bytes_resident();
  for (const Tenant& tenant : state_->tenants) {
    stats.metadata_bytes += tenant.directory.mapping.size();
    for (const SlabIndex index : tenant.slabs) {
      const Slab& slab = state_->memory.slab(index);
      stats.metadata_bytes += slab.table_bytes_resident() + slab.slot_count() * 2 * sizeof(std::uint32_t);
    }
  }
  return stats;
}

std::optional<ChecksumJob> Store::checksum_next() {
  return checksum_take(*state_);
}

void Store::checksum_done(const ChecksumJob& job, std::uint64_t sum) {
  checksum_put(*state_, job, sum);
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
