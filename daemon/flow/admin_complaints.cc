// What makes the health degraded, and who causes it.
#include <algorithm>

#include "daemon/flow/blame.h"
#include "daemon/flow/pin.h"
#include "daemon/flow/store_admin.h"
#include "daemon/flow/unanswered.h"
#include "libkvclient/base/counted.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

// A healthy client's service thread answers in well under a millisecond, on a busy machine in some.
constexpr TimeNs kSilenceNs = kNsPerSecond;
constexpr TimeNs kRefusalAgeNs = 10 * kNsPerSecond;  // nobody asked for room since

std::string who(std::uint32_t pid, const std::string& name) {
  return "pid " + std::to_string(pid) + " (" + name + ")";
}

std::uint64_t held_bytes(const ClientView& client) {
  return client.leased_unpinned_bytes + client.pinned_bytes;
}

bool is_closed(const ClientView& client) {
  return client.state == "closed";
}

std::string about_held(const ClientView& client, std::uint64_t budget) {
  return who(client.pid, is_closed(client) ? "closed" : client.name) + " holds " +
         format_size(held_bytes(client)) + " of namespace " + client.namespace_name + ", leases " +
         format_size(client.leased_bytes) + " and pins " + format_size(client.pinned_bytes) +
         ": more than limits.pinned_fraction_client allows, " + format_size(budget);
}

std::string about_zombie(const ClientView& client) {
  return who(client.pid, client.name) +
         " is disconnected and still runs: " + format_size(client.leased_bytes) + " leased, " +
         counted(client.writing_blocks, "block") + " quarantined, " + counted(client.slabs_lent, "slab") +
         " that nobody can write, until it reconnects or exits (after exec: until it exits)";
}

std::string about_silence(const Unanswered& each, TimeNs now_ns) {
  return who(each.session->request.pid, each.session->request.client_name) + " has not answered for " +
         format_duration((now_ns - each.since_ns) / kNsPerMs * kNsPerMs) + ": " +
         counted(each.slabs, "slab") +
         " asked back from it, which nobody else can use until it answers or exits; is it stopped "
         "(SIGSTOP, a paused container, a debugger)?";
}

std::string about_hoard(const Hoarder& each, TimeNs now_ns) {
  return who(each.session->request.pid, each.session->request.client_name) + " has " +
         counted(each.blocks, "block") + " reserved, and for " +
         format_duration((now_ns - each.since_ns) / kNsPerMs * kNsPerMs) +
         " others find no room because of them: it has to commit or abort them, or exit; is it stopped "
         "(SIGSTOP, a "
         "paused container, a debugger)?";
}

std::string keepers(StoreState& state, const EmptyingRefusal& refusal) {
  for (const auto& session : state.sessions) {
    if (session != nullptr && session->request.pid == refusal.pid)
      return who(refusal.pid, session->request.client_name) + " keeps";
  }
  if (refusal.pid == 0) return "clients that closed keep";
  return "pid " + std::to_string(refusal.pid) + ", which closed, keeps";
}

std::string about_refusal(StoreState& state, const Tenant& tenant, const SlotClass& slot_class) {
  const EmptyingRefusal& refusal = slot_class.refusal;
  const bool is_pinned = refusal.cause == Cause::kPinnedBy;
  return "namespace " + tenant.name + ": " + keepers(state, refusal) + " a block in " +
         std::to_string(refusal.kept) + " of " + std::to_string(refusal.tried) + " slabs with slots of " +
         format_size(slot_class.slot_bytes) + (is_pinned ? ", leased or pinned" : ", being written") +
         ": no slab can go to other block sizes or namespaces that need room before all of its blocks can "
         "leave";
}

// What failed again and again for a second, and within the last ten: busy clients are in the way for milliseconds.
void add_refusals(StoreState& state, std::vector<std::string>& lines) {
  for (const Tenant& tenant : state.tenants) {
    for (const SlotClass& each : tenant.classes) {
      const EmptyingRefusal& refusal = each.refusal;
      const bool is_lasting = refusal.cause != Cause::kNone && refusal.at_ns >= refusal.since_ns + kSilenceNs;
      if (is_lasting && state.now() < refusal.at_ns + kRefusalAgeNs)
        lines.push_back(about_refusal(state, tenant, each));
    }
  }
}

// There are more writers than slabs. It is nobody's doing but the settings'.
void add_lent_out(StoreState& state, std::vector<std::string>& lines) {
  for (const Tenant& tenant : state.tenants) {
    for (const SlotClass& each : tenant.classes) {
      if (each.lent_out_ns == 0 || state.now() >= each.lent_out_ns + kRefusalAgeNs) continue;
      lines.push_back("namespace " + tenant.name + ": a reservation found no slab, though " +
                      std::to_string(each.slots_free) + " of " + std::to_string(each.slots) + " slots of " +
                      format_size(each.slot_bytes) +
                      " are free: each slab is one writer's while it has blocks reserved in it, and all " +
                      std::to_string(each.slabs.size()) +
                      " are taken; make host.slab_bytes smaller, so that there are more slabs than clients "
                      "that write at a time");
    }
  }
}

// Nine tenths: there is time to plan the cold start.
void add_specs(StoreState& state, std::vector<std::string>& lines) {
  const std::uint64_t count = state.restart.header().space_count;
  if (count * 10 < std::uint64_t{state.options.spaces_max} * 9) return;
  const auto most =
      std::ranges::max_element(state.tenants, {}, [](const Tenant& tenant) { return tenant.spaces.size(); });
  lines.push_back(counted(count, "spec") + " of limits.spaces_max " +
                  std::to_string(state.options.spaces_max) + " are registered, " +
                  std::to_string(most->spaces.size()) + " of them in namespace " + most->name +
                  ": each stays until a cold start, and one more than the limit is refused; raise it, which "
                  "drops the cached blocks at the next start");
}

// Until the next start: the disk holds more than is found there.
void add_index(const StoreState& state, std::vector<std::string>& lines) {
  const std::uint64_t drops = state.stats.index_drops;
  if (drops == 0) return;
  lines.push_back(
      counted(drops, "block") +
      " on disk given up since the start, the oldest first: the index has names for " +
      std::to_string(state.blocks.blocks_max()) +
      " blocks of all tiers, and the NVMe tier has room for more; raise nvme.blocks_max, or "
      "index.blocks_max where that is set (some 420 bytes of memory a block), or lower nvme.paths[].bytes");
}

// A client's part of what its namespace may have.
std::uint64_t budget_of(const StoreState& state, const ClientView& client) {
  const auto tenant = std::ranges::find(state.tenants, client.namespace_name, &Tenant::name);
  return pin_share_bytes(state, *tenant) * state.options.pinned_percent_client / 100;
}

void add_clients(StoreState& state, std::vector<std::string>& lines) {
  std::vector<ClientView> clients = admin_clients(state);
  admin_add_pins(state, clients);
  for (const ClientView& client : clients) {
    const std::uint64_t budget = budget_of(state, client);
    if (held_bytes(client) > budget) lines.push_back(about_held(client, budget));
    if (client.state != "attached" && !is_closed(client)) lines.push_back(about_zombie(client));
  }
}

}  // namespace

std::vector<std::string> admin_complaints(StoreState& state) {
  std::vector<std::string> lines;
  add_clients(state, lines);
  add_refusals(state, lines);
  add_lent_out(state, lines);
  add_specs(state, lines);
  add_index(state, lines);
  const TimeNs now = state.now();
  for (const Unanswered& each : unanswered_since(state, now - std::min(now, kSilenceNs)))
    lines.push_back(about_silence(each, now));
  for (const Hoarder& each : blame_hoarders(state)) lines.push_back(about_hoard(each, now));
  return lines;
}

}  // namespace kvtier
