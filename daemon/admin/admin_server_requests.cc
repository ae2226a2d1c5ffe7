// What the administration server does with requests: who may ask what, the conductor's answers, deadlines.
#include <algorithm>

#include "daemon/admin/admin_lines.h"
#include "daemon/admin/admin_server.h"

namespace kvtier {
namespace {

Status too_long() {
  return {Code::kInvalid, "the request is longer than 16 KiB; the connection ends"};
}

Status late(const AdminRequest& request) {
  const std::string limit = request.verb == AdminVerb::kHealth ? "1 s" : "5 s";
  return {Code::kDeadline, "the conductor did not answer within " + limit +
                               ": it is overloaded or hangs; `kvctl stat` reads its counters without it"};
}

Status overrun() {
  return {Code::kBusy,
          "the conductor owes as many answers as it may: it is overloaded or hangs; retry later"};
}

Status refusal(const Peer& peer) {
  return {Code::kDenied,
          "uid " + std::to_string(peer.uid) +
              " may read here, but evict, flush, sync, kick and verify only as root, as the daemon's user, "
              "or as a member of the group in the setting admin_group"};
}

}  // namespace

std::size_t AdminServer::take_answers(TimeNs now_ns) {
  std::size_t taken = 0;
  AdminAnswer answer;
  for (; port_.receive(answer); ++taken) {
    const std::size_t index = answer.ticket % kConnectionsMax;
    AdminConnection* connection = places_[index].connection.get();
    const bool is_awaited = connection != nullptr && connection->job && connection->job->is_asking() &&
                            connection->job->ticket() == answer.ticket;
    if (is_awaited) connection->job->answered(std::move(answer), now_ns);  // else its asker has gone
  }
  return taken;
}

// One connection's round: the next request, the conductor's next step, lines, bytes, deadlines.
std::size_t AdminServer::run(std::size_t index, TimeNs now_ns) {
  AdminConnection& connection = *places_[index].connection;
  std::size_t work = connection.job ? 0 : begin_request(index, now_ns);
  if (connection.job) work += answer(connection, now_ns);
  work += connection.send(now_ns);
  if (connection.deadline_ns() <= now_ns) work += expire(connection);
  if (connection.is_over()) {
    close(index);
    return work + 1;
  }
  update_interest(index);
  return work;
}

std::size_t AdminServer::begin_request(std::size_t index, TimeNs now_ns) {
  AdminConnection& connection = *places_[index].connection;
  const std::optional<std::string> line = connection.take_line(now_ns);
  if (!line) {
    if (!connection.is_line_too_long()) return 0;
    connection.add_output(error_line(too_long()));
    connection.end_input();
    return 1;
  }
  Result<AdminRequest> request = parse_admin_request(*line);
  if (!request.is_ok()) {
    connection.add_output(error_line(request.status()));
  } else if (request.value().is_destructive() && !may_change(connection.peer())) {
    connection.add_output(error_line(refusal(connection.peer())));
  } else {
    connection.job.emplace(std::move(request).value(), next_ticket_++ * kConnectionsMax + index, now_ns);
  }
  return 1;
}

std::size_t AdminServer::answer(AdminConnection& connection, TimeNs now_ns) {
  AdminJob& job = *connection.job;
  std::size_t work = 0;
  if (std::optional<AdminCommand> command = job.command(now_ns)) {
    if (port_.send(std::move(*command))) {
      job.asked(now_ns);
    } else {
      job.failed(overrun());
    }
    ++work;
  }
  if (job.is_to_begin()) {
    const Status begun = verify_.begin(job.ticket());
    if (begun.is_ok()) {
      job.begun(now_ns);
    } else {
      job.failed(begun);
    }
    ++work;
  }
  std::string line;
  while (connection.has_room() && job.next_line(options_.facts, now_ns, line)) {
    connection.add_output(line);
    line.clear();
    ++work;
  }
  if (job.is_over()) {
    verify_.end(job.ticket());
    connection.job.reset();
  }
  return work;
}

std::size_t AdminServer::expire(AdminConnection& connection) {
  if (connection.job && connection.job->is_asking() && !connection.has_output()) {
    connection.job->failed(late(connection.job->request()));
  } else {
    connection.break_off();
  }
  return 1;
}

bool AdminServer::may_change(const Peer& peer) const {
  if (peer.uid == 0 || peer.uid == own_uid_) return true;
  if (std::ranges::find(options_.admin_uids, peer.uid) != options_.admin_uids.end()) return true;
  return std::ranges::any_of(options_.admin_gids, [&](std::uint32_t gid) { return peer.is_in_group(gid); });
}

}  // namespace kvtier
