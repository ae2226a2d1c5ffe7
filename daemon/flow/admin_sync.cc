// kvctl sync: begun once, then looked at until it is over.

#include <algorithm>

#include "daemon/flow/store_admin.h"
#include "daemon/flow/sync.h"

namespace kvtier {

Result<SyncView> admin_sync(StoreState& state, const BlockFilter& filter, std::uint64_t number) {
  if (number == 0) {
    SyncTarget target{.space = filter.space};
    const auto tenant = std::ranges::find(state.tenants, filter.namespace_name, &Tenant::name);
    if (tenant != state.tenants.end()) target.tenant = tenant->id;  // else it is all: the name was checked
    number = sync_begin(state, target);
  }
  if (number == 0) {
    return Status{Code::kBusy, std::to_string(kSyncsMax) +
                                   " calls for durability are under way; wait until one has ended"};
  }
  const std::optional<SyncView> view = sync_look(state, number);
  if (!view) return Status{Code::kNotFound, "the sync was given up for others; do it again"};
  return *view;
}

}  // namespace kvtier
