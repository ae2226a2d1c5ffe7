// What makes the health degraded, and who causes it.
#include "daemon/flow/store_admin.h"
#include "daemon/flow/unanswered.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

// A healthy client's service thread answers in well under a millisecond, on a busy machine in some.
constexpr TimeNs kSilenceNs = kNsPerSecond;

std::string who(std::uint32_t pid, const std::string& name) {
  return "pid " + std::to_string(pid) + " (" + name + ")";
}

std::string about_leases(const ClientView& client) {
  return who(client.pid, client.name) + " leases " + std::to_string(client.leased_bytes) +
         " bytes, more than limits.pinned_fraction_client allows";
}

std::string about_zombie(const ClientView& client) {
  return who(client.pid, client.name) +
         " is disconnected and still runs: " + std::to_string(client.leased_bytes) + " bytes leased, " +
         std::to_string(client.writing_blocks) + " blocks quarantined, " + std::to_string(client.slabs_lent) +
         " slabs that nobody can write, until it reconnects or exits (after exec: until it exits)";
}

std::string about_silence(const Unanswered& each, TimeNs now_ns) {
  return who(each.session->request.pid, each.session->request.client_name) + " has not answered for " +
         format_duration((now_ns - each.since_ns) / kNsPerMs * kNsPerMs) + ": " + std::to_string(each.slabs) +
         " slabs are asked back from it and nobody else can use them until it answers or exits; is it "
         "stopped "
         "(SIGSTOP, a paused container, a debugger)?";
}

}  // namespace

std::vector<std::string> admin_complaints(StoreState& state) {
  std::vector<std::string> lines;
  const std::uint64_t budget = state.memory.bytes() / 100 * state.options.pinned_percent_client;
  for (const ClientView& client : admin_clients(state)) {
    if (client.leased_bytes > budget) lines.push_back(about_leases(client));
    if (client.state != "attached") lines.push_back(about_zombie(client));
  }
  const TimeNs now = state.now();
  if (now <= kSilenceNs) return lines;
  for (const Unanswered& each : unanswered_since(state, now - kSilenceNs))
    lines.push_back(about_silence(each, now));
  return lines;
}

}  // namespace kvtier
