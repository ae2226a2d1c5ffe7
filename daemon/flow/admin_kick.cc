// kvctl kick: ends the sessions of a process, or one of them. Pids of containers are as small as session numbers,
// so that a number alone may mean two clients: then nobody is ended.
#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

using Kind = KickTarget::Kind;

bool is_meant(const Session& session, const KickTarget& target) {
  const bool is_session = target.kind != Kind::kProcess && session.id == target.number;
  const bool is_process = target.kind != Kind::kSession && session.request.pid == target.number;
  return is_session || is_process;
}

Status check_one_meaning(const StoreState& state, std::uint64_t number) {
  const Session* by_id = nullptr;
  const Session* by_pid = nullptr;
  for (const auto& session : state.sessions) {
    if (session == nullptr) continue;
    if (session->id == number) by_id = session.get();
    if (session->request.pid == number) by_pid = session.get();
  }
  if (by_id == nullptr || by_pid == nullptr || by_id->request.pid == number) return Status::ok();
  const std::string text = std::to_string(number);
  return {Code::kInvalid, text + " is pid " + text + " (" + by_pid->request.client_name + ") and session " +
                              text + " of pid " + std::to_string(by_id->request.pid) + " (" +
                              by_id->request.client_name + "): nobody was ended; say --pid " + text +
                              " or --session " + text};
}

void end(StoreState& state, const Session& session) {
  OutEvent event;
  event.kind = OutEvent::Kind::kEndSession;
  event.session = session.index;
  event.reason = "ended by an administrator (kvctl kick)";
  state.outbox->push_back(std::move(event));
  ++state.stats.sessions_kicked;
}

}  // namespace

Status admin_kick(StoreState& state, const KickTarget& target) {
  if (target.kind == Kind::kEither) KV_RETURN_IF_ERROR(check_one_meaning(state, target.number));
  bool is_known = false;
  for (const auto& session : state.sessions) {
    if (session == nullptr || !is_meant(*session, target)) continue;
    is_known = true;
    if (session->life == Session::Life::kAttached) end(state, *session);
  }
  if (is_known) return Status::ok();
  const char* what = target.kind == Kind::kEither    ? "session and no process "
                     : target.kind == Kind::kProcess ? "process "
                                                     : "session ";
  return {Code::kNotFound, "no " + (what + std::to_string(target.number)) + "; see kvctl clients"};
}

}  // namespace kvtier
