#include "tools/kvctl/admin_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "libkvclient/base/units.h"

namespace kvtier::ctl {
namespace {

[[noreturn]] void fail_connect(const std::string& path, int error) {
  if (error == EACCES || error == EPERM)
    throw Failure(
        kExitDenied, "denied",
        "no permission to connect to " + path + "; run as root, or as a member of the socket's group");
  if (error == EPROTOTYPE)
    throw Failure(kExitUsage, "usage",
                  path +
                      " is of another kind than the administration socket, as the engines' socket is; name "
                      "kvtierd's admin_socket with --socket or $KVTIER_ADMIN_SOCKET");
  std::string cause = path + ": " + std::strerror(error);
  if (error == ENOENT) cause = "there is no socket " + path;
  if (error == ECONNREFUSED) cause = "nobody listens on " + path;
  throw Failure(kExitDown, "unavailable",
                cause + "; start kvtierd, or name its admin_socket with --socket or $KVTIER_ADMIN_SOCKET");
}

ExitStatus exit_status_of(const std::string& code) {
  if (code == "denied") return kExitDenied;
  if (code == "invalid") return kExitUsage;  // what was asked makes no sense, whoever noticed
  if (code == "deadline" || code == "busy" || code == "unavailable") return kExitDown;
  return kExitFailed;
}

[[noreturn]] void fail_answer(const Json& error) {
  const std::string code = error.value("code", "system");
  throw Failure(exit_status_of(code), code, error.value("message", "the daemon gave no reason"));
}

}  // namespace

AdminClient::AdminClient(const Globals& globals) : globals_(globals) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (globals.socket.empty() || globals.socket.size() >= sizeof address.sun_path)
    throw Failure(kExitUsage, "usage", "--socket must be a path of 1 to 107 bytes");
  std::memcpy(address.sun_path, globals.socket.data(), globals.socket.size());
  socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_.is_open()) fail_connect(globals.socket, errno);
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  if (errno == EAGAIN)
    throw Failure(kExitDown, "busy", "the daemon takes no connections now: its queue is full, or it hangs");
  fail_connect(globals.socket, errno);
}

Json AdminClient::request(const Json& request, const OnLine& on_line) {
  const std::string line = request.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  // Small beside the socket's buffer, so it goes in one piece.
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
    throw Failure(kExitDown, "unavailable", "the daemon closed the connection; is it stopping?");
  for (;;) {
    Json answer = read_line();
    if (const auto error = answer.find("error"); error != answer.end()) fail_answer(*error);
    if (answer.value("done", false)) return answer;
    if (on_line) on_line(answer);
  }
}

void AdminClient::rows(Json request, const std::function<bool(const Json&)>& on_row) {
  bool is_wanted = true;
  while (is_wanted) {
    const Json last = this->request(request, [&](const Json& line) {
      if (is_wanted && line.contains("row")) is_wanted = on_row(line["row"]);
    });
    const auto next = last.find("next");
    if (next == last.end() || next->is_null()) return;
    request["cursor"] = *next;
  }
}

Json AdminClient::read_line() {
  for (;;) {
    if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
      Json json =
          Json::parse(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
      input_.erase(0, end + 1);
      if (json.is_object()) return json;
      throw Failure(kExitDown, "corrupt",
                    globals_.socket + " does not answer as kvtierd does; check --socket");
    }
    wait_for(POLLIN);
    std::array<char, 64 * kKiB> bytes;
    const ssize_t received = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (received < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (received <= 0)
      throw Failure(kExitDown, "unavailable",
                    "the daemon closed the connection; it stopped, or had no place left");
    input_.append(bytes.data(), static_cast<std::size_t>(received));
  }
}

void AdminClient::wait_for(short events) {
  pollfd poll{socket_.get(), events, 0};
  const int ready = ::poll(&poll, 1, static_cast<int>(globals_.timeout_s * 1000));
  if (ready != 0) return;
  throw Failure(kExitDown, "deadline",
                "no answer within " + std::to_string(globals_.timeout_s) +
                    " s: the daemon hangs or is overloaded; `kvctl stat` reads its counters without it");
}

Json filtered(const std::string& verb, const BlockFilterOptions& filter) {
  Json request = {{"verb", verb}};
  if (!filter.namespace_name.empty()) request["namespace"] = filter.namespace_name;
  if (filter.space != 0) request["space"] = filter.space;
  return request;
}

}  // namespace kvtier::ctl
