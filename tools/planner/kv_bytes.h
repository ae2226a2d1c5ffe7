#pragma once
// The plain formula: bytes = 2 x layers x kv_heads x tokens x head_dim x bytes_per_value x batch, the 2 for K and V.
// Per kind of layer: windows keep min(tokens, window) tokens, MLA has one row and no factor 2, K and V may differ in
// length. No rounding to blocks, no padding: what an engine needs at least.

#include <cstdint>
#include <vector>

#include "libkvclient/base/result.h"
#include "tools/planner/dtype.h"
#include "tools/planner/kv_model.h"

namespace kvtier::plan {

struct Workload {
  std::uint64_t tokens = 0;  ///< of a sequence
  std::uint64_t batch = 1;   ///< sequences
  DType dtype{};
};

struct KvBytes {
  std::uint64_t bytes = 0;                  ///< of all sequences
  std::uint64_t bytes_without_windows = 0;  ///< the same if every layer kept every token, as blocks do
  std::uint64_t bytes_per_token = 0;        ///< of one token in all layers
  std::vector<std::uint64_t> group_bytes;   ///< of `bytes`, by group
};

/// Bytes of one token in one layer of that kind. kInvalid: too many, or no whole groups of the dtype.
Result<std::uint64_t> layer_token_bytes(const LayerKv& kv, const DType& dtype);

Result<KvBytes> kv_bytes(const KvModel& model, const Workload& workload);

}  // namespace kvtier::plan
