#include "tools/paging/contiguous_scheme.h"

#include <algorithm>
#include <bit>

#include "libkvclient/base/check.h"

namespace kvtier::sim {

std::string_view ContiguousScheme::name() const {
  switch (reserve_) {
    case Reserve::kMax:
      return "contiguous max";
    case Reserve::kPow2:
      return "contiguous pow2";
    case Reserve::kOracle:
      break;
  }
  return "contiguous oracle";
}

std::uint64_t ContiguousScheme::needed(const LengthRequest& lengths) const {
  switch (reserve_) {
    case Reserve::kMax:
      return max_tokens_;
    case Reserve::kPow2:
      return std::min(max_tokens_, lengths.prompt + std::bit_ceil(std::uint64_t{lengths.output}));
    case Reserve::kOracle:
      break;
  }
  return lengths.total();
}

bool ContiguousScheme::admit(const RunningRequest& request) {
  const std::optional<std::uint64_t> begin = pool_.allocate(needed(request.lengths));
  if (begin) pieces_[request.number] = *begin;
  return begin.has_value();
}

bool ContiguousScheme::grow(const RunningRequest& request) {
  return request.held() < needed(request.lengths);
}

void ContiguousScheme::preempt(const RunningRequest&) {
  KV_CHECK(false, "a reservation is never outgrown");
}

bool ContiguousScheme::resume(const RunningRequest&) {
  KV_CHECK(false, "a reservation is never outgrown");
  return false;
}

void ContiguousScheme::finish(const RunningRequest& request) {
  pool_.free(pieces_.at(request.number), needed(request.lengths));
  pieces_.erase(request.number);
}

}  // namespace kvtier::sim
