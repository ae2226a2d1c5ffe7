#include "daemon/flow/adopt.h"

#include <poll.h>

#include <algorithm>

#include "daemon/flow/adopt_blocks.h"
#include "daemon/flow/lending.h"
#include "daemon/flow/records.h"
#include "daemon/flow/sessions.h"
#include "daemon/flow/slabs.h"
#include "daemon/policy/lru_evictor.h"

namespace kvtier {
namespace {

UniqueFd take(StoredFds& fds, const std::string& name) {
  const auto found = fds.find(name);
  return found == fds.end() ? UniqueFd() : std::move(found->second);
}

// The sizes of what is kept follow from these settings.
Status check_header(const StoreState& state, const RestartHeader& header, const HostMemoryOptions& memory,
                    std::uint32_t blocks_max) {
  KV_RETURN_IF_ERROR(size_unchanged("host.bytes", header.host_bytes, state.options.host_bytes));
  const std::uint64_t slab_bytes =
      memory.slab_bytes != 0 ? memory.slab_bytes : HostMemory::default_slab_bytes(memory.bytes);
  KV_RETURN_IF_ERROR(size_unchanged("host.slab_bytes", header.slab_bytes, slab_bytes));
  return setting_unchanged("index.blocks_max", header.blocks_max, blocks_max);
}

Status adopt_directory(Tenant& tenant, UniqueFd fd) {
  Result<Directory> directory = Directory::adopt(std::move(fd));
  if (!directory.is_ok()) return directory.status().while_doing("adopting the directory of " + tenant.name);
  tenant.directory = std::move(directory).value();
  return Status::ok();
}

Status adopt_tenants(StoreState& state, StoredFds& fds) {
  const RestartHeader& header = state.restart.header();
  if (header.tenant_count > state.options.namespaces_max)
    return {Code::kCorrupt, "more namespaces than limits.namespaces_max"};
  for (std::uint32_t i = 0; i < header.tenant_count; ++i) {
    const RestartTenant& kept = state.restart.tenants()[i];
    Tenant tenant;
    tenant.id = NamespaceId{i};
    tenant.name = read_name(kept.name);
    tenant.bytes_max = kept.bytes_max;
    if (state.disk) tenant.cold = std::make_unique<LruEvictor>(state.blocks);
    KV_RETURN_IF_ERROR(adopt_directory(tenant, take(fds, "namespace" + std::to_string(i) + ".directory")));
    state.tenants.push_back(std::move(tenant));
  }
  return Status::ok();
}

Status adopt_spaces(StoreState& state) {
  const RestartHeader& header = state.restart.header();
  const std::span<std::byte> specs = state.restart.specs();
  if (header.space_count > state.restart.spaces().size()) return {Code::kCorrupt, "too many spaces"};
  for (const RestartSpace& kept : state.restart.spaces().first(header.space_count)) {
    const bool fits =
        kept.encoding_offset <= specs.size() && kept.encoding_bytes <= specs.size() - kept.encoding_offset;
    if (!fits || kept.tenant >= state.tenants.size()) return {Code::kCorrupt, "a space record out of range"};
    const std::span<const std::byte> encoding = specs.subspan(kept.encoding_offset, kept.encoding_bytes);
    Result<Spec> spec = decode_spec(encoding);
    if (!spec.is_ok()) return spec.status().while_doing("adopting a space");
    space_add(state, state.tenants[kept.tenant], sha256(encoding), encoding, std::move(spec).value());
  }
  return Status::ok();
}

bool has_exited(int pidfd) {
  pollfd entry{pidfd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

Status adopt_session(StoreState& state, std::uint32_t place, StoredFds& fds) {
  RestartSession& kept = state.restart.sessions()[place];
  const std::string name = "session" + std::to_string(kept.id);
  UniqueFd pidfd = take(fds, name + ".pidfd");
  UniqueFd channel = take(fds, name + ".channel");
  if (pidfd.is_open() && has_exited(pidfd.get())) {
    state.fds->remove(name + ".channel");
    state.fds->remove(name + ".pidfd");
    kept.id = 0;
    return Status::ok();
  }
  if (!pidfd.is_open() || !channel.is_open() || kept.tenant >= state.tenants.size()) {
    return {Code::kCorrupt, "the channel or the pidfd of pid " + std::to_string(kept.pid) + " is missing"};
  }
  auto session = std::make_unique<Session>();
  session->index = SessionIndex{place};
  session->id = kept.id;
  session->secret = {kept.secret[0], kept.secret[1]};
  session->tenant = NamespaceId{kept.tenant};
  session->request.namespace_name = state.tenants[kept.tenant].name;
  session->request.client_name = read_name(kept.name);
  session->request.client_version = read_name(kept.version);
  session->request.pid = kept.pid;
  session->request.uid = kept.uid;
  session->request.is_read_only = kept.is_read_only != 0;
  session->opened_ns = state.now();
  session->pidfd = std::move(pidfd);
  session->life = Session::Life::kAdopted;
  KV_RETURN_IF_ERROR(session_map_channel(state, *session, std::move(channel)));
  state.tenant_of(*session).sessions.push_back(session->index);
  ++state.stats.sessions;
  ++state.stats.zombies;
  state.stats.channel_bytes += ChannelLayout::kPins;
  state.sessions[place] = std::move(session);
  return Status::ok();
}

// A daemon that died while it opened or closed a session leaves descriptors that no record names.
void remove_unnamed(StoreState& state, const StoredFds& fds) {
  for (const auto& [name, fd] : fds) {
    if (fd.is_open()) state.fds->remove(name);
  }
}

SessionIndex session_with_id(const StoreState& state, std::uint64_t id) {
  for (const auto& session : state.sessions) {
    if (session != nullptr && session->id == id) return session->index;
  }
  return SessionIndex::kNone;
}

Status adopt_slabs(StoreState& state) {
  for (std::uint32_t i = 0; i < state.memory.slab_count(); ++i) {
    RestartSlab& kept = state.restart.slabs()[i];
    if (kept.tenant_plus_one == 0) continue;
    if (kept.tenant_plus_one > state.tenants.size())
      return {Code::kCorrupt, "a slab of an unknown namespace"};
    Tenant& tenant = state.tenants[kept.tenant_plus_one - 1];
    Slab& slab = state.memory.slab(SlabIndex{i});
    KV_RETURN_IF_ERROR(slab.adopt_assignment(tenant.id, kept.slot_bytes));
    state.memory.remove_unassigned(slab.index());
    tenant.slabs.push_back(slab.index());
    tenant.slab_bytes += slab.bytes();
    ++state.stats.slabs_assigned;
    const SessionIndex writer = session_with_id(state, kept.writer_session);
    if (writer != SessionIndex::kNone) {
      slab.writer = writer;
      ++state.session(writer)->slabs_lent;
    } else {
      kept.writer_session = 0;
    }
  }
  return Status::ok();
}

}  // namespace

namespace {

// What the records tell of: header, slabs, block table.
Status adopt_memory(StoreState& state, const HostMemoryOptions& memory_options, const RestartSizes& sizes,
                    std::uint32_t blocks_max, StoredFds& fds) {
  const auto take_fd = [&fds](const std::string& name) { return take(fds, name); };
  const auto check = [&](const RestartHeader& kept) {
    return check_header(state, kept, memory_options, blocks_max);
  };
  Result<RestartState> restart = RestartState::adopt(take_fd("state"), sizes, check);
  if (!restart.is_ok()) return restart.status();
  state.restart = std::move(restart).value();
  const RestartHeader& header = state.restart.header();
  Result<HostMemory> memory = HostMemory::adopt(memory_options, take_fd);
  if (!memory.is_ok()) return memory.status();
  state.memory = std::move(memory).value();
  Result<BlockTable> blocks = BlockTable::adopt(take_fd("blocks"), blocks_max, header.blocks_reserved);
  if (!blocks.is_ok()) return blocks.status();
  state.blocks = std::move(blocks).value();
  return Status::ok();
}

Status adopt_contents(StoreState& state, StoredFds& fds) {
  const RestartHeader& header = state.restart.header();
  state.instance = {header.instance[0], header.instance[1]};
  state.next_session_id = std::max<std::uint64_t>(header.next_session_id, 1);
  state.sessions.resize(state.restart.sessions().size());
  order_create(state);
  KV_RETURN_IF_ERROR(records_reserve(state, header.blocks_reserved));
  KV_RETURN_IF_ERROR(adopt_tenants(state, fds));
  KV_RETURN_IF_ERROR(adopt_spaces(state));
  state.pins_stride = slabs_pins_stride(state.memory);
  for (std::uint32_t place = 0; place < state.sessions.size(); ++place) {
    if (state.restart.sessions()[place].id != 0) KV_RETURN_IF_ERROR(adopt_session(state, place, fds));
  }
  KV_RETURN_IF_ERROR(adopt_slabs(state));
  KV_RETURN_IF_ERROR(adopt_blocks(state));
  remove_unnamed(state, fds);
  return Status::ok();
}

}  // namespace

Adoption adopt_all(StoreState& state, const HostMemoryOptions& memory, const RestartSizes& sizes,
                   std::uint32_t blocks_max, StoredFds fds) {
  const Status mapped = adopt_memory(state, memory, sizes, blocks_max, fds);
  if (!mapped.is_ok()) return {mapped};
  // Before anything in it is touched. Not kNoSpace: that would be final for who starts us, and with its end the
  // kept memory would go.
  const Status locked = state.memory.lock_all(memory);
  if (!locked.is_ok()) {
    return {{Code::kSystem,
             "what the earlier instance left stays in the descriptor store and waits for the next start: " +
                 locked.message() + "; or set host.lock to try"},
            true};
  }
  return {adopt_contents(state, fds)};
}

}  // namespace kvtier
