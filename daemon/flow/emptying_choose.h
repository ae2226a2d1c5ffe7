#pragma once
// Which slabs an attempt to empty one tries, and what it came to when none could be had.

#include "daemon/flow/holder.h"

namespace kvtier {

/// The class that the slab comes from.
SlotClass& emptying_donor(StoreState& state, const Emptying& job);

/// The next slab to try, which the job has from here on: that of one of the donor's coldest blocks, else any. False:
/// there is none left for this attempt.
bool emptying_choose(StoreState& state, Emptying& job);

/// A slab stays because of this holder.
void emptying_count_kept(Emptying& job, const Holder& holder);

/// No slab could be had: why, for the reservation that is refused and for an administrator.
void emptying_refuse(StoreState& state, const Emptying& job);

}  // namespace kvtier
