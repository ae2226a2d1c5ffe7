#include "tools/kvsim/longcontext_tier.h"

#include <algorithm>

namespace kvtier::sim {
namespace {

// Those that cannot leave are deferred, as the daemon does; who finds none in so many gives up.
constexpr int kCandidates = 64;

}  // namespace

Tier::Tier(const Policy& policy, std::uint32_t capacity, std::uint32_t pages)
    : residents_(std::min(capacity, pages), pages), evictor_(policy.make(residents_.table())) {
  evictor_->set_capacity(std::min(capacity, pages));
}

void Tier::use(BlockNumber page, std::uint32_t now_ms) {
  const BlockId block = residents_.find(page);
  residents_.table()[block].access_ms = now_ms;
  evictor_->access(block);
}

bool Tier::insert(BlockNumber page, std::uint32_t now_ms, const std::function<bool(BlockNumber)>& can_leave) {
  if (residents_.is_full() && !make_room(can_leave)) return false;
  const BlockId block = residents_.add(page);
  residents_.table()[block].access_ms = now_ms;
  evictor_->insert(block, BlockId::kNone);
  return true;
}

bool Tier::make_room(const std::function<bool(BlockNumber)>& can_leave) {
  for (int i = 0; i < kCandidates; ++i) {
    const BlockId victim = evictor_->coldest();
    if (victim == BlockId::kNone) return false;
    if (can_leave(residents_.number_of(victim))) {
      evictor_->remember(victim);
      evictor_->remove(victim);
      residents_.remove(victim);
      return true;
    }
    evictor_->defer(victim);
  }
  return false;
}

void Tier::remove(BlockNumber page) {
  const BlockId block = residents_.find(page);
  evictor_->remove(block);
  residents_.remove(block);
}

}  // namespace kvtier::sim
