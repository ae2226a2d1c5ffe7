#include "daemon/policy/arc_evictor.h"

#include <algorithm>

namespace kvtier {

ArcEvictor::ArcEvictor(BlockTable& blocks, std::uint64_t seed)
    : TwoListEvictor(blocks),
      ghosts_(blocks.blocks_max() + 1, seed) {}  // one more between remember and insert

void ArcEvictor::set_capacity(std::uint32_t blocks) {
  capacity_ = blocks;
  once_target_ = std::min<double>(once_target_, blocks);
  trim_ghosts();
}

void ArcEvictor::insert(BlockId block, BlockId parent) {
  const std::uint32_t ghost = ghosts_.find(ghosts_.fingerprint(blocks()[block]));
  if (ghost == Ghosts::kNone) {
    push(block, kOnce, parent);
  } else {
    adapt(ghosts_.queue_of(ghost));
    ghosts_.erase(ghost);
    push(block, kProven, parent);
  }
  trim_ghosts();
}

void ArcEvictor::adapt(std::uint32_t queue) {
  const double once = ghosts_.size(kOnce);
  const double proven = ghosts_.size(kProven);
  if (queue == kOnce) {
    once_target_ = std::min<double>(capacity_, once_target_ + std::max(1.0, proven / once));
  } else {
    once_target_ = std::max(0.0, once_target_ - std::max(1.0, once / proven));
  }
}

TwoListEvictor::Which ArcEvictor::first_list() {
  return list(kOnce).size() > once_target_ || list(kProven).size() == 0 ? kOnce : kProven;
}

void ArcEvictor::remember(BlockId block) {
  ghosts_.insert(which(block), ghosts_.fingerprint(blocks()[block]));
}

// As many of the first list, with its ghosts, as the class has room for; twice that of both.
void ArcEvictor::trim_ghosts() {
  while (ghosts_.size(kOnce) > 0 && list(kOnce).size() + ghosts_.size(kOnce) > capacity_)
    ghosts_.erase(ghosts_.oldest(kOnce));
  while (ghosts_.size(kProven) > 0 &&
         std::uint64_t{size()} + ghosts_.size(kOnce) + ghosts_.size(kProven) > std::uint64_t{capacity_} * 2)
    ghosts_.erase(ghosts_.oldest(kProven));
}

}  // namespace kvtier
