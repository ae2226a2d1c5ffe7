#include "daemon/flow/sessions.h"

#include <algorithm>
#include <atomic>

#include "daemon/flow/directory_growth.h"
#include "daemon/flow/invalidate.h"
#include "daemon/flow/lending.h"
#include "daemon/flow/put.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/slabs.h"
#include "daemon/flow/sync.h"
#include "daemon/flow/wait.h"
#include "daemon/policy/lru_evictor.h"

namespace kvtier {
namespace {

std::uint64_t channel_bytes(const StoreState& state) {
  return ChannelLayout::bytes_for(state.memory.slab_count() * state.pins_stride);
}

// Recovery made the namespace, and knew no limit.
void claim(StoreState& state, Tenant& tenant, std::uint64_t bytes_max) {
  tenant.is_unclaimed = false;
  tenant.bytes_max = bytes_max;
  state.restart.tenants()[index_of(tenant.id)].bytes_max = bytes_max;
}

Result<SessionIndex> free_place(StoreState& state) {
  for (std::size_t i = 0; i < state.sessions.size(); ++i) {
    if (state.sessions[i] == nullptr) return SessionIndex{static_cast<std::uint32_t>(i)};
  }
  if (state.sessions.size() >= std::min<std::uint32_t>(state.options.sessions_max, kNoWriter)) {
    return Status(Code::kNoSpace,
                  "limits.clients_max is " + std::to_string(state.options.sessions_max) +
                      " and that many clients are attached; raise it or end one (kvctl clients)");
  }
  state.sessions.emplace_back();
  return SessionIndex{static_cast<std::uint32_t>(state.sessions.size() - 1)};
}

Status make_channel(StoreState& state, Session& session) {
  const std::uint64_t bytes = channel_bytes(state);
  Result<UniqueFd> fd = shm_create("kvtier-channel", bytes, {.reserve_pages = false});
  if (!fd.is_ok()) return fd.status();
  KV_RETURN_IF_ERROR(shm_reserve(fd.value().get(), 0, ChannelLayout::kPins));
  KV_RETURN_IF_ERROR(session_map_channel(state, session, std::move(fd).value()));
  auto* header = reinterpret_cast<ChannelHeader*>(session.channel.data());
  header->magic = kChannelMagic;
  header->layout_version = kChannelLayoutVersion;
  header->session_id = session.id;
  header->pins_bytes = bytes - ChannelLayout::kPins;
  return Status::ok();
}

std::string fd_name(const Session& session, const char* what) {
  return "session" + std::to_string(session.id) + "." + what;
}

void forget(StoreState& state, Session& session) {
  // Its place can be another session's before the outbox is delivered.
  std::erase_if(*state.outbox, [&](const OutEvent& event) { return event.session == session.index; });
  Tenant& tenant = state.tenant_of(session);
  std::erase(tenant.sessions, session.index);
  state.restart.sessions()[index_of(session.index)].id = 0;
  state.fds->remove(fd_name(session, "channel"));
  state.fds->remove(fd_name(session, "pidfd"));
  state.stats.channel_bytes -= ChannelLayout::kPins;
  if (session.life != Session::Life::kAttached) --state.stats.zombies;
  --state.stats.sessions;
  state.sessions[index_of(session.index)].reset();
}

// Published last: id. The next one is raised before it: no two sessions ever share one.
void keep_for_restart(StoreState& state, const Session& session) {
  state.restart.header().next_session_id = state.next_session_id;
  RestartSession& kept = state.restart.sessions()[index_of(session.index)];
  kept.secret[0] = session.secret[0];
  kept.secret[1] = session.secret[1];
  kept.tenant = index_of(session.tenant);
  kept.pid = session.request.pid;
  kept.uid = session.request.uid;
  kept.is_read_only = session.request.is_read_only ? 1 : 0;
  copy_name(session.request.client_name, kept.name);
  copy_name(session.request.client_version, kept.version);
  std::atomic_signal_fence(std::memory_order_release);
  kept.id = session.id;
}

// What ends with the connection, whether the process lives on or not: a session that is resumed has forgotten
// its requests too, and uses their numbers anew.
void end_requests(StoreState& state, Session& session) {
  waits_forget(state, session);
  syncs_forget(state, session);
  std::erase_if(state.deferred, [&](const Deferred& each) { return each.session_id == session.id; });
  invalidations_disown(state, session);
  session.requests_open = 0;
}

}  // namespace

Status session_map_channel(StoreState& state, Session& session, UniqueFd fd) {
  const Result<std::uint64_t> checked = shm_verify(fd.get(), channel_bytes(state));
  if (!checked.is_ok()) return checked.status();
  Result<ShmMapping> mapping = ShmMapping::map(fd.get(), checked.value(), ShmAccess::kReadWrite);
  if (!mapping.is_ok()) return mapping.status();
  session.channel_fd = std::move(fd);
  session.channel = std::move(mapping).value();
  const auto log = session.channel.bytes().subspan(ChannelLayout::kAccessLog, ChannelLayout::kAccessLogBytes);
  session.access_log = AccessLogConsumer(log, kAccessLogEntries);
  return Status::ok();
}

SessionGrant session_grant(StoreState& state, const Session& session) {
  const Tenant& tenant = state.tenant_of(session);
  SessionGrant grant;
  grant.session = session.index;
  grant.session_id = session.id;
  grant.secret[0] = session.secret[0];
  grant.secret[1] = session.secret[1];
  grant.instance[0] = state.instance[0];
  grant.instance[1] = state.instance[1];
  grant.namespace_id = session.tenant;
  grant.channel_fd = session.channel_fd.get();
  grant.channel_bytes = session.channel.size();
  grant.directory_fd = tenant.directory.read_fd();
  grant.directory_bytes = tenant.directory.bytes();
  grant.channel = session.channel.data();
  return grant;
}

Result<SessionGrant> session_open(StoreState& state, const SessionRequest& request) {
  Result<Tenant*> tenant = tenant_open(state, request.namespace_name, request.namespace_bytes_max);
  if (!tenant.is_ok()) return tenant.status();
  if (tenant.value()->is_unclaimed) claim(state, *tenant.value(), request.namespace_bytes_max);
  const Result<SessionIndex> place = free_place(state);
  if (!place.is_ok()) return place.status();
  auto session = std::make_unique<Session>();
  session->index = place.value();
  session->id = state.next_session_id++;
  session->secret = {state.chance.next(), state.chance.next()};
  session->tenant = tenant.value()->id;
  session->request = request;
  session->opened_ns = state.now();
  Status status = make_channel(state, *session);
  for (const SlabIndex index : tenant.value()->slabs) {
    const Slab& slab = state.memory.slab(index);
    if (status.is_ok()) status = slabs_reserve_pins(state, *session, slab, slab.slot_count());
  }
  if (!status.is_ok()) return status.while_doing("making a channel for pid " + std::to_string(request.pid));
  KV_RETURN_IF_ERROR(state.fds->put(fd_name(*session, "channel"), session->channel_fd.get()));
  tenant.value()->sessions.push_back(session->index);
  ++state.stats.sessions;
  ++state.stats.sessions_opened;
  state.stats.channel_bytes += ChannelLayout::kPins;
  SessionGrant grant = session_grant(state, *session);
  state.sessions[index_of(place.value())] = std::move(session);
  return grant;
}

void session_keep(StoreState& state, const Session& session, int pidfd) {
  // Refused: the next instance finds the session without it and starts cold.
  (void)state.fds->put(fd_name(session, "pidfd"), pidfd);
  keep_for_restart(state, session);
}

void session_hang_up(StoreState& state, Session& session) {
  if (session.life == Session::Life::kZombie) return;
  if (session.life == Session::Life::kAttached) ++state.stats.zombies;
  session.life = Session::Life::kZombie;
  end_requests(state, session);
  put_disown(state, session);
  lending_hung_up(state, session);
}

void session_exited(StoreState& state, Session& session) {
  rebalance_forgive(state.tenant_of(session), session.request.pid);
  end_requests(state, session);
  put_reclaim(state, session);
  lending_writer_gone(state, session);
  rebalance_session_gone(state, session);
  forget(state, session);
}

Result<Tenant*> tenant_open(StoreState& state, std::string_view name, std::uint64_t bytes_max) {
  for (Tenant& tenant : state.tenants) {
    if (tenant.name == name) return &tenant;  // with the limit that it has
  }
  if (state.tenants.size() >= state.options.namespaces_max) {
    return Status(Code::kNoSpace, "limits.namespaces_max is " + std::to_string(state.options.namespaces_max));
  }
  Tenant tenant;
  tenant.id = NamespaceId{static_cast<std::uint32_t>(state.tenants.size())};
  tenant.name = name;
  tenant.bytes_max = bytes_max;
  if (state.disk) tenant.cold = std::make_unique<LruEvictor>(state.blocks);
  KV_RETURN_IF_ERROR(directory_create(state, tenant));
  state.restart.add_tenant(name, bytes_max);
  state.tenants.push_back(std::move(tenant));
  return &state.tenants.back();
}

}  // namespace kvtier
