#include "tools/kvsim/policies.h"

#include <algorithm>

#include "daemon/policy/arc_evictor.h"
#include "daemon/policy/lru_evictor.h"
#include "daemon/policy/reuse_evictor.h"
#include "daemon/policy/s3fifo_evictor.h"
#include "tools/kvsim/fifo_evictor.h"

namespace kvtier::sim {
namespace {

constexpr std::uint64_t kSeed = 1;

template <class T>
std::unique_ptr<Evictor> make(BlockTable& blocks) {
  if constexpr (std::is_constructible_v<T, BlockTable&, std::uint64_t>) {
    return std::make_unique<T>(blocks, kSeed);
  } else {
    return std::make_unique<T>(blocks);
  }
}

constexpr Policy kPolicies[] = {
    {"lru", make<LruEvictor>},
    {"fifo", make<FifoEvictor>},
    {"arc", make<ArcEvictor>},
    {"s3fifo", make<S3FifoEvictor>},
    {"default", make<ReuseEvictor>, /*is_tree=*/true},
    {"min", nullptr},
};

}  // namespace

std::span<const Policy> policies() {
  return kPolicies;
}

const Policy* find_policy(std::string_view name) {
  const auto* found = std::find_if(std::begin(kPolicies), std::end(kPolicies),
                                   [&](const Policy& policy) { return policy.name == name; });
  return found == std::end(kPolicies) ? nullptr : found;
}

}  // namespace kvtier::sim
