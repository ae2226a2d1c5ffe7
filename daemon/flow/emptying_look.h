#pragma once
// Who keeps a slab from being emptied: looked for before anything in it is evicted, since one block that stays makes
// every eviction there useless. Reads only.

#include "daemon/flow/holder.h"

namespace kvtier {

struct EmptyingLooked {
  bool is_over = false;  ///< all of it was looked at, or a holder was found
  Holder holder;
  std::size_t looked = 0;
};
/// Goes on with looking at the slab's blocks, and those below them in other slabs, as far as a step may. A slab with
/// more below its blocks than emptying it may evict counts as kept by ourselves.
EmptyingLooked emptying_look(StoreState& state, Emptying& job);

/// Blocks in other slabs that may be evicted to empty one.
inline constexpr std::uint32_t kEmptyingOutsideMax = 32768;

}  // namespace kvtier
