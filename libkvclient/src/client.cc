// kvc_client_open, kvc_client_close, kvc_ping.

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "libkvclient/src/answer.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/options.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {
namespace {

constexpr const char* kDefaultSocket = "/run/kvtier/kvtierd.sock";

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

std::string default_socket() {
  const char* from_environment = std::getenv("KVTIER_SOCKET");
  const bool is_set = from_environment != nullptr && *from_environment != '\0';
  return is_set ? from_environment : kDefaultSocket;
}

// The program's, as kvctl can show it.
std::string default_name() {
  std::string name(::program_invocation_short_name);
  name.resize(std::min<std::size_t>(name.size(), kNameBytes - 1));
  std::ranges::replace_if(
      name, [](char each) { return !is_printable(each); }, '?');
  return name;
}

ClientOptions options_of(const kvc_client_options& given) {
  ClientOptions options;
  options.socket_path = given.socket_path != nullptr ? given.socket_path : default_socket();
  options.namespace_name = text_or(given.namespace_name, "default");
  options.client_name = given.client_name != nullptr ? given.client_name : default_name();
  if (given.deadline_ns != 0) options.deadline_ns = given.deadline_ns;
  options.is_required = (given.flags & KVC_REQUIRE) != 0;
  options.is_read_only = (given.flags & KVC_READ_ONLY) != 0;
  options.verifies = (given.flags & KVC_VERIFY) != 0;
  return options;
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_client_open(const kvc_client_options* options, kvc_client** client) try {
  if (client == nullptr) return client::report(Code::kInvalid, "kvc_client_open: client must not be NULL");
  *client = nullptr;
  kvc_client_options given{};
  Status status = client::read_struct("kvc_client_open", options, given);
  if (status.is_ok()) {
    status = client::check_flags("kvc_client_open", given.flags, KVC_REQUIRE | KVC_READ_ONLY | KVC_VERIFY,
                                 "KVC_REQUIRE, KVC_READ_ONLY, KVC_VERIFY");
  }
  if (!status.is_ok()) return client::report(status);
  auto made = std::make_unique<kvc_client>();  // before there is a connection, so that it cannot fail after
  Result<std::shared_ptr<client::Core>> core = client::Core::open(client::options_of(given));
  if (!core.is_ok()) return client::report(core.status());
  made->core = std::move(core).value();
  *client = made.release();
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

extern "C" void kvc_client_close(kvc_client* client) try {
  // In a child of fork the handle is forgotten: thread, socket and memory are the parent's.
  if (client == nullptr || !client->core->guard.is_same_process()) return;
  client->core->close();
  delete client;
} catch (...) {
  (void)client::report_exception();
}

extern "C" int kvc_ping(kvc_client* client, uint64_t deadline_ns) try {
  if (client == nullptr) return client::report(Code::kInvalid, "kvc_ping: client must not be NULL");
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  const std::shared_ptr<client::Core> kept = client->core;  // a close meanwhile ends the call, and the handle
  client::Core& core = *kept;
  const Result<client::Link> link = core.link();
  if (!link.is_ok()) return client::report_counted(core, link.status());
  client::RequestCall call;
  call.submission.op = Op::kEcho;
  const Result<Completion> answer =
      client::request(core, *link.value().requests, call, client::deadline_of(core, deadline_ns));
  if (!answer.is_ok()) return client::report_counted(core, answer.status());
  return client::report_counted(core, client::status_of(answer.value(), Op::kEcho));
} catch (...) {
  return client::report_exception();
}
