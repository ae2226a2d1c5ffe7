#include "tools/kvsim/longcontext_model.h"

#include <algorithm>
#include <cmath>

namespace kvtier::sim {

Picoseconds ps_for(double bytes, double bytes_per_s) {
  return static_cast<Picoseconds>(std::ceil(bytes / bytes_per_s * 1e12));
}

Picoseconds DecodeCost::longer_of(double bytes, double flops) const {
  return std::max(ps_for(bytes, rates_.memory_bytes_per_s), ps_for(flops, rates_.flops_per_s));
}

// A multiplication and an addition for each weight and sequence.
Picoseconds DecodeCost::weights_ps(double weights, double other_bytes) const {
  return longer_of(weights * shape_.bytes_per_value + other_bytes, 2 * weights * batch_);
}

Picoseconds DecodeCost::select_ps(double digest_bytes) const {
  const double heads = shape_.query_heads + 2.0 * shape_.kv_heads;
  return weights_ps(double{1} * shape_.hidden * heads * shape_.head_dim, digest_bytes);
}

// For each token: a product with K and one with V in every query head.
Picoseconds DecodeCost::attend_ps(std::uint64_t pages) const {
  const double tokens = static_cast<double>(pages) * kPageTokens;
  return longer_of(static_cast<double>(pages * page_bytes(shape_)),
                   4 * tokens * shape_.query_heads * shape_.head_dim);
}

Picoseconds DecodeCost::rest_ps() const {
  const double out = double{1} * shape_.query_heads * shape_.head_dim * shape_.hidden;
  return weights_ps(out + 3.0 * shape_.hidden * shape_.mlp);
}

Picoseconds DecodeCost::logits_ps() const {
  return weights_ps(double{1} * shape_.hidden * shape_.vocabulary);
}

}  // namespace kvtier::sim
