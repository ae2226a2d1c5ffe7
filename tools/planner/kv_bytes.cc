#include "tools/planner/kv_bytes.h"

#include "tools/planner/amount.h"

namespace kvtier::plan {

Result<std::uint64_t> layer_token_bytes(const LayerKv& kv, const DType& dtype) {
  if (kv.kind == LayerKind::kNone) return std::uint64_t{0};
  const Result<std::uint64_t> key = row_bytes(dtype, kv.key_dim);
  if (!key.is_ok()) return key.status();
  const Result<std::uint64_t> value = row_bytes(dtype, kv.value_dim);
  if (!value.is_ok()) return value.status();
  return (Amount(kv.heads) * (Amount(key.value()) + value.value())).value("a token");
}

Result<KvBytes> kv_bytes(const KvModel& model, const Workload& workload) {
  KvBytes sizes;
  Amount bytes = 0;
  Amount all = 0;
  Amount token = 0;
  for (const LayerGroup& group : model.groups) {
    const Result<std::uint64_t> layer = layer_token_bytes(group.kv, workload.dtype);
    if (!layer.is_ok()) return layer.status();
    const Amount layers = Amount(group.layers.size()) * layer.value();
    const Amount kept = layers * group.kv.tokens_kept(workload.tokens) * workload.batch;
    token = token + layers;
    all = all + layers * workload.tokens * workload.batch;
    bytes = bytes + kept;
    const Result<std::uint64_t> share = kept.value("the KV of this workload");
    if (!share.is_ok()) return share.status();
    sizes.group_bytes.push_back(share.value());
  }
  // The second is the largest of the three.
  const Result<std::uint64_t> most = all.value("the KV of this workload");
  if (!most.is_ok()) return most.status();
  sizes.bytes_without_windows = most.value();
  sizes.bytes = bytes.value("").value();
  sizes.bytes_per_token = token.value("").value();
  return sizes;
}

}  // namespace kvtier::plan
