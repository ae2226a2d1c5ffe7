// A process comes back to its own session: after the daemon's restart, after its connection broke, or after an
// administrator ended it. What it leases it keeps; what it was writing is lost to it, and those slots come
// back with its acknowledgement.
#include "daemon/flow/lending.h"
#include "daemon/flow/rebalance.h"
#include "daemon/flow/sessions.h"

namespace kvtier {
namespace {

// Rights may have changed since. A writer that may only read now goes on as a reader; a reader's slabs are
// mapped from read-only descriptors, so to write it needs a session of its own.
bool fits(const Session& session, const SessionRequest& request) {
  return session.request.namespace_name == request.namespace_name &&
         (request.is_read_only || !session.request.is_read_only);
}

void attach(StoreState& state, Session& session, const SessionRequest& request) {
  // What is queued still was for the connection that broke.
  std::erase_if(*state.outbox, [&](const OutEvent& event) { return event.session == session.index; });
  session.life = Session::Life::kAttached;
  session.pidfd.reset();
  session.request.is_read_only = request.is_read_only;
  state.restart.sessions()[index_of(session.index)].is_read_only = request.is_read_only ? 1 : 0;
  --state.stats.zombies;
  ++state.stats.sessions_resumed;
}

}  // namespace

Session* session_proved(StoreState& state, std::uint64_t session_id, const std::uint64_t (&secret)[2]) {
  for (const auto& session : state.sessions) {
    if (session == nullptr || session->id != session_id) continue;
    const bool is_proved = session->secret[0] == secret[0] && session->secret[1] == secret[1];
    return is_proved && session->life != Session::Life::kAttached ? session.get() : nullptr;
  }
  return nullptr;
}

Result<SessionGrant> session_resume(StoreState& state, std::uint64_t session_id,
                                    const std::uint64_t (&secret)[2], const SessionRequest& request) {
  Session* session = session_proved(state, session_id, secret);
  if (session == nullptr)
    return Status(Code::kStale, "session " + std::to_string(session_id) + " is not known any more");
  if (!fits(*session, request))
    return Status(Code::kStale, "session " + std::to_string(session_id) + " has another namespace or right");
  attach(state, *session, request);
  lending_resumed(state, *session);
  rebalance_resumed(state, *session);
  return session_grant(state, *session);
}

}  // namespace kvtier
