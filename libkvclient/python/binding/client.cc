#include "libkvclient/python/binding/client.h"

#include <optional>

#include "libkvclient/python/binding/space.h"

namespace kvtier::python {
namespace {

struct Opening {
  std::optional<std::string> socket;
  std::string namespace_name;
  std::string name;
};

std::shared_ptr<Client> open(const Opening& opening, std::uint64_t deadline_ns, std::uint32_t flags) {
  kvc_client_options options{};
  options.struct_size = sizeof options;
  options.socket_path = opening.socket ? c_text(*opening.socket, "socket").c_str() : nullptr;
  options.namespace_name = c_text(opening.namespace_name, "namespace").c_str();
  options.client_name = c_text(opening.name, "name").c_str();
  options.deadline_ns = deadline_ns;
  options.flags = flags;
  kvc_client* opened = nullptr;
  SignalScope signals;
  const int code = without_gil([&] { return kvc_client_open(&options, &opened); });
  if (code != KVC_OK) signals.raise();
  check(code);
  auto client = std::make_shared<Client>(opened, flags);
  signals.raise();
  return client;
}

py::dict stats_of(const Client& client) {
  kvc_client_stats stats{};
  stats.struct_size = sizeof stats;
  check(kvc_stats(client.handle().get(), &stats));
  py::dict out;
#define KVTIER_STAT(field) out[#field] = stats.field
  KVTIER_STAT(match_calls);
  KVTIER_STAT(match_keys);
  KVTIER_STAT(match_ready);
  KVTIER_STAT(acquire_calls);
  KVTIER_STAT(acquire_keys);
  KVTIER_STAT(acquire_leased);
  KVTIER_STAT(acquire_unverified);
  KVTIER_STAT(acquire_corrupt);
  KVTIER_STAT(leases_open);
  KVTIER_STAT(reserve_keys);
  KVTIER_STAT(reserve_new);
  KVTIER_STAT(reserve_stocked);
  KVTIER_STAT(commit_blocks);
  KVTIER_STAT(abort_blocks);
  KVTIER_STAT(reservations_open);
  KVTIER_STAT(requests);
  KVTIER_STAT(requests_late);
  KVTIER_STAT(unavailable);
  KVTIER_STAT(deadline_exceeded);
#undef KVTIER_STAT
  return out;
}

const char* connection_name(std::uint32_t connection) {
  static constexpr const char* kNames[] = {"unknown", "connected", "connecting", "refused", "closed"};
  return connection < std::size(kNames) ? kNames[connection] : kNames[0];
}

kvc_client_status read_status(const Client& client) {
  kvc_client_status status{};
  status.struct_size = sizeof status;
  check(kvc_status(client.handle().get(), &status));
  return status;
}

py::dict status_of(const Client& client) {
  const kvc_client_status status = read_status(client);
  py::dict out;
  out["connection"] = connection_name(status.connection);
  out["namespace_id"] = status.namespace_id;
  out["session_id"] = status.session_id;
  out["sessions_count"] = status.sessions_count;
  out["resumed_count"] = status.resumed_count;
  out["protocol"] = py::make_tuple(status.protocol_major, status.protocol_minor);
  out["daemon_protocol"] = py::make_tuple(status.daemon_protocol_major, status.daemon_protocol_minor);
  out["daemon_version"] = status.daemon_version;
  out["mapped_bytes"] = status.mapped_bytes;
  out["slabs_count"] = status.slabs_count;
  out["is_read_only"] = status.is_read_only != 0;
  out["socket_path"] = status.socket_path;
  out["last_error"] = status.last_error;
  return out;
}

bool is_connected(const Client& client) {
  return !client.is_closed() && read_status(client).connection == KVC_CONNECTED;
}

int ping(const Client& client, std::uint64_t deadline_ns) {
  const auto handle = client.handle();
  return check_data_path(blocking([&] { return kvc_ping(handle.get(), deadline_ns); }));
}

std::uint64_t invalidate_namespace(const Client& client, std::uint64_t deadline_ns) {
  const auto handle = client.handle();
  std::uint64_t blocks = 0;
  check(blocking([&] { return kvc_invalidate_namespace(handle.get(), deadline_ns, &blocks); }));
  return blocks;
}

}  // namespace

Client::Client(kvc_client* opened, std::uint32_t flags)
    : flags_(flags),
      handle_(opened, [](kvc_client* last) { without_gil_if_held([last] { kvc_client_close(last); }); }) {}

std::shared_ptr<kvc_client> Client::handle() const {
  if (handle_ == nullptr) raise_error(KVC_STALE, "the client is closed");
  return handle_;
}

void Client::close() {
  const std::shared_ptr<kvc_client> last = std::move(handle_);
}

void bind_client(py::module_& module) {
  py::class_<Client, std::shared_ptr<Client>>(module, "Client")
      .def(py::init([](const py::object& socket, std::string namespace_name, std::string name,
                       std::uint64_t deadline_ns, std::uint32_t flags) {
        Opening opening{std::nullopt, std::move(namespace_name), std::move(name)};
        if (!socket.is_none()) opening.socket = socket.cast<std::string>();
        return open(opening, deadline_ns, flags);
      }))
      .def("close", &Client::close)
      .def("is_connected", &is_connected)
      .def("stats", &stats_of)
      .def("status", &status_of)
      .def("ping", &ping)
      .def("invalidate_namespace", &invalidate_namespace)
      .def("register_space", &register_space);
}

}  // namespace kvtier::python
