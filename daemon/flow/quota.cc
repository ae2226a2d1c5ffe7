#include "daemon/flow/quota.h"

#include <algorithm>

#include "daemon/flow/rebalance.h"

namespace kvtier {
namespace {

// Leases end without a word to us: a slab that they kept is tried again.
constexpr TimeNs kTryAgainNs = kNsPerSecond;

bool is_beyond(const Tenant& tenant) {
  return tenant.bytes_max != 0 && tenant.slab_bytes > tenant.bytes_max;
}

}  // namespace

void quota_set(StoreState& state, std::string_view name, std::uint64_t bytes_max) {
  const auto tenant = std::ranges::find(state.tenants, name, &Tenant::name);
  if (tenant == state.tenants.end()) return;
  tenant->bytes_max = bytes_max;
  state.restart.tenants()[index_of(tenant->id)].bytes_max = bytes_max;
  if (is_beyond(*tenant)) state.quota_at_ns = state.now();
}

std::size_t quota_step(StoreState& state) {
  if (state.now() < state.quota_at_ns) return 0;
  state.quota_at_ns = kNever;
  std::size_t taken = 0;
  for (Tenant& tenant : state.tenants) {
    if (!is_beyond(tenant)) continue;
    const bool is_taken = rebalance_shrink(state, tenant);
    taken += is_taken ? 1 : 0;
    if (is_beyond(tenant))
      state.quota_at_ns = std::min(state.quota_at_ns, state.now() + (is_taken ? 0 : kTryAgainNs));
  }
  return taken;
}

}  // namespace kvtier
