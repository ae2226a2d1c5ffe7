// Who pinned what: a pin outlives the client that asked for it.

#include <algorithm>

#include "daemon/flow/store_admin.h"

namespace kvtier {

void admin_add_pins(StoreState& state, std::vector<ClientView>& rows) {
  for (const auto& [id, pinner] : state.pinners) {
    auto row = std::ranges::find(rows, id, &ClientView::session_id);
    if (row == rows.end()) {
      ClientView closed;
      closed.session_id = id;
      closed.namespace_name = state.tenants[index_of(pinner.tenant)].name;
      closed.state = "closed";
      closed.pid = pinner.pid;
      closed.uid = pinner.uid;
      row = rows.insert(rows.end(), std::move(closed));
    }
    row->pinned_blocks = pinner.blocks;
    row->pinned_bytes = pinner.bytes;
  }
}

}  // namespace kvtier
