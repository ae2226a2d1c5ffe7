#include "tools/planner/block_size.h"

#include "daemon/disk/format_geometry.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/limits.h"
#include "libkvclient/wire/spec.h"
#include "libkvclient/wire/types.h"
#include "tools/planner/amount.h"

namespace kvtier::plan {

PayloadSize payload_size(std::uint64_t bytes) {
  return {.bytes = bytes,
          .slot_bytes = round_up(bytes, kSlotAlignment),
          .record_bytes = kHeaderBytesMax + round_up(bytes, kAlignmentMin)};
}

std::uint64_t written_bytes(const PayloadSize& size) {
  return size.record_bytes + sizeof(IndexEntry);
}

Result<std::uint64_t> packed_bytes(const std::vector<std::uint64_t>& parts) {
  Amount end = 0;
  for (const std::uint64_t part : parts) end = rounded_up(end, kPartAlignment) + part;
  Result<std::uint64_t> bytes = end.value("a block");
  if (bytes.is_ok() && bytes.value() <= kBlockBytesMax) return bytes;
  return Status(Code::kInvalid, "a block of " +
                                    (bytes.is_ok() ? format_size(bytes.value()) : "more than 2^64 bytes") +
                                    " is more than a block may have, " + format_size(kBlockBytesMax) +
                                    "; lower --block-tokens");
}

Result<PayloadSize> raw_block_size(const KvModel& model, const DType& dtype, std::uint64_t block_tokens) {
  std::vector<std::uint64_t> parts;
  for (const LayerGroup& group : model.groups) {
    const Result<std::uint64_t> layer = layer_token_bytes(group.kv, dtype);
    if (!layer.is_ok()) return layer.status();
    const Result<std::uint64_t> part =
        (Amount(group.layers.size()) * layer.value() * block_tokens).value("a block");
    if (!part.is_ok()) return part.status();
    if (part.value() != 0) parts.push_back(part.value());
  }
  const Result<std::uint64_t> bytes = packed_bytes(parts);
  if (!bytes.is_ok()) return bytes.status();
  return payload_size(bytes.value());
}

}  // namespace kvtier::plan
