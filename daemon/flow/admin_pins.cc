// Who pinned what: a pin outlives the client that asked for it.

#include <algorithm>
#include <map>

#include "daemon/flow/store_admin.h"

namespace kvtier {
namespace {

constexpr std::size_t kPinsMax = 65536;  ///< that one call looks at: about 2 ms of the conductor

struct Pinned {
  std::uint64_t blocks = 0;
  std::uint64_t bytes = 0;
  const Tenant* tenant = nullptr;
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
};

std::map<std::uint64_t, Pinned> pinned_by_session(StoreState& state) {
  std::map<std::uint64_t, Pinned> sums;
  std::size_t looks = 0;
  for (const auto& [index, hold] : state.pin_holds) {
    if (looks++ == kPinsMax) break;
    const BlockRecord& record = state.blocks[BlockId{index}];
    Pinned& sum = sums[hold.session_id];
    ++sum.blocks;
    sum.bytes += state.slab_of(record.slot).slot_bytes();
    sum.tenant = &state.tenants[record.tenant];
    sum.pid = hold.pid;
    sum.uid = hold.uid;
  }
  return sums;
}

}  // namespace

void admin_add_pins(StoreState& state, std::vector<ClientView>& rows) {
  for (const auto& [id, sum] : pinned_by_session(state)) {
    auto row = std::ranges::find(rows, id, &ClientView::session_id);
    if (row == rows.end()) {
      ClientView closed;
      closed.session_id = id;
      closed.namespace_name = sum.tenant->name;
      closed.state = "closed";
      closed.pid = sum.pid;
      closed.uid = sum.uid;
      row = rows.insert(rows.end(), std::move(closed));
    }
    row->pinned_blocks = sum.blocks;
    row->pinned_bytes = sum.bytes;
  }
}

}  // namespace kvtier
