#pragma once
// What the daemon's tiers take for a block: all layers of `tokens` tokens, each layer whole, windows too (a block is
// immutable and stands for its tokens whoever reads it). Parts lie as Spec::part_offset says, slots are 4 KiB aligned,
// a record on disk has a header page before its payload (daemon/disk/FORMAT.md).

#include <cstdint>
#include <string>
#include <vector>

#include "libkvclient/base/result.h"
#include "tools/planner/kv_bytes.h"

namespace kvtier::plan {

/// One payload, as each tier rounds it.
struct PayloadSize {
  std::uint64_t bytes = 0;
  std::uint64_t slot_bytes = 0;    ///< host memory
  std::uint64_t record_bytes = 0;  ///< disk, written alone: header page and padded payload. In a group less
};

/// What is written to disk for it: the record, and its entry in the segment's index.
std::uint64_t written_bytes(const PayloadSize& size);

PayloadSize payload_size(std::uint64_t bytes);

/// Parts of a block, one after the other at multiples of kPartAlignment; kInvalid: larger than any block may be.
Result<std::uint64_t> packed_bytes(const std::vector<std::uint64_t>& parts);

/// The uncoded block of so many tokens; kInvalid names the knob where it is too large.
Result<PayloadSize> raw_block_size(const KvModel& model, const DType& dtype, std::uint64_t block_tokens);

}  // namespace kvtier::plan
