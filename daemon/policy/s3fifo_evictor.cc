#include "daemon/policy/s3fifo_evictor.h"

#include <algorithm>

namespace kvtier {
namespace {

// As in the paper and in libCacheSim.
constexpr double kSmallShare = 0.1;
constexpr double kGhostShare = 0.9;
constexpr std::uint8_t kUsesToProve = 2;
constexpr std::uint8_t kUsesMax = 3;

}  // namespace

S3FifoEvictor::S3FifoEvictor(BlockTable& blocks, std::uint64_t seed)
    : TwoListEvictor(blocks),
      ghosts_(blocks.blocks_max(), seed),
      uses_(make_zeroed<std::uint8_t>(blocks.blocks_max())) {}

void S3FifoEvictor::set_capacity(std::uint32_t blocks) {
  main_max_ = blocks - std::min(blocks, std::max(1U, static_cast<std::uint32_t>(blocks * kSmallShare)));
  ghosts_max_ = static_cast<std::uint32_t>(blocks * kGhostShare);
  trim_ghosts();
}

void S3FifoEvictor::insert(BlockId block, BlockId parent) {
  uses_[index_of(block)] = 0;
  const std::uint32_t ghost = ghosts_.find(ghosts_.fingerprint(blocks()[block]));
  if (ghost == Ghosts::kNone) return push(block, kOnce, parent);
  ghosts_.erase(ghost);
  push(block, kProven, parent);
}

void S3FifoEvictor::insert_coldest(BlockId block) {
  uses_[index_of(block)] = 0;
  TwoListEvictor::insert_coldest(block);
}

void S3FifoEvictor::access(BlockId block) {
  std::uint8_t& uses = uses_[index_of(block)];
  uses = std::min<std::uint8_t>(kUsesMax, uses + 1);
}

TwoListEvictor::Which S3FifoEvictor::first_list() {
  return list(kProven).size() > main_max_ || list(kOnce).size() == 0 ? kProven : kOnce;
}

// Each turn takes uses that an access put there: as many turns as accesses, in all.
BlockId S3FifoEvictor::skip_saved(BlockId block, Which which) {
  while (block != BlockId::kNone) {
    std::uint8_t& uses = uses_[index_of(block)];
    if (which == kOnce ? uses < kUsesToProve : uses == 0) return block;
    const BlockId saved = block;
    block = list(which).after(block);
    uses = which == kOnce ? std::uint8_t{0} : static_cast<std::uint8_t>(uses - 1);
    move_to_hottest(saved, kProven);
    if (block == BlockId::kNone && which == kProven) block = saved;
  }
  return block;
}

void S3FifoEvictor::remember(BlockId block) {
  if (which(block) != kOnce) return;
  ghosts_.insert(kOnce, ghosts_.fingerprint(blocks()[block]));
  trim_ghosts();
}

void S3FifoEvictor::trim_ghosts() {
  while (ghosts_.size(kOnce) > ghosts_max_) ghosts_.erase(ghosts_.oldest(kOnce));
}

}  // namespace kvtier
