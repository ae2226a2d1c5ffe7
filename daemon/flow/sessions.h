#pragma once
// Sessions and namespaces: opening, resuming, hanging up, exiting; spaces.

#include "daemon/flow/state.h"

namespace kvtier {

Result<SessionGrant> session_open(StoreState& state, const SessionRequest& request);
/// Takes a channel into the session: maps it and starts to read its access log.
Status session_map_channel(StoreState& state, Session& session, UniqueFd fd);
/// Stores the pidfd and publishes the session for the next instance.
void session_keep(StoreState& state, const Session& session, int pidfd);
/// The session that this secret proves, if nobody is connected to it; else null.
Session* session_proved(StoreState& state, std::uint64_t session_id, const std::uint64_t (&secret)[2]);
Result<SessionGrant> session_resume(StoreState& state, std::uint64_t session_id,
                                    const std::uint64_t (&secret)[2], const SessionRequest& request);
void session_hang_up(StoreState& state, Session& session);
void session_exited(StoreState& state, Session& session);
SessionGrant session_grant(StoreState& state, const Session& session);
Result<Tenant*> tenant_open(StoreState& state, std::string_view name, std::uint64_t bytes_max);
void space_add(StoreState& state, Tenant& tenant, const Digest& digest, std::span<const std::byte> encoding,
               Spec spec);
/// The space of this spec, made if it is not there.
Result<SpaceGrant> space_open(StoreState& state, Tenant& tenant, std::span<const std::byte> encoding);
Result<SpaceGrant> space_register(StoreState& state, Session& session, std::span<const std::byte> encoding);

}  // namespace kvtier
