#pragma once
// Evicts the blocks of a slab that is being emptied, and those below them.

#include "daemon/flow/state.h"

namespace kvtier {

struct EmptyingEvicted {
  BlockId stays = BlockId::kNone;  ///< a block that does; nothing behind it was tried
  bool is_saving = false;          ///< the next one is being written to disk first
  std::uint32_t evicted = 0;
  std::size_t looked = 0;  ///< slots and evictions, at least one unless `is_saving`
};
/// Goes on from job.next_slot as far as a step may; all slots are done when that is the slab's slot count.
EmptyingEvicted emptying_evict(StoreState& state, Emptying& job);

}  // namespace kvtier
