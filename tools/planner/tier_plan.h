#pragma once
// How much of a workload each tier holds, by the daemon's own rules: host memory in slabs of equal slots, disk in
// segments of records with a footer, an index with room for so many blocks. Upper bounds: nothing else is stored, and
// on disk nothing is dead.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/planner/codec_size.h"

namespace kvtier::plan {

struct TierSizes {
  std::uint64_t gpu_bytes = 0;  ///< 0: none. A plan only: this build has no such tier
  std::uint64_t host_bytes = 0;
  std::uint64_t slab_bytes = 0;
  std::vector<std::uint64_t> nvme_path_bytes;  ///< empty: no tier
  std::uint64_t segment_bytes = 0;
  std::uint64_t block_bytes_max = 0;     ///< no larger block goes to disk
  std::uint64_t blocks_max = 0;          ///< of all tiers, in the index
  std::uint64_t puts_bytes_per_day = 0;  ///< of the write budget what new blocks get; 0: no limit
};

enum class TierKind : std::uint8_t { kGpu, kHost, kNvme };

struct TierRow {
  TierKind tier = TierKind::kHost;
  Codec codec = Codec::kRaw;
  std::uint64_t block_bytes = 0;  ///< that a block takes there
  std::uint64_t blocks = 0;
  std::uint64_t tokens = 0;
  std::uint64_t sequences = 0;  ///< of Workload::tokens each, whole blocks
  std::optional<double>
      budget_seconds;  ///< of the write budget, for the whole workload; none: no limit, or not disk
  std::string note;
};

struct TierQuestion {
  Workload workload;
  std::uint64_t block_tokens = 0;
};

std::string_view tier_name(TierKind tier);
/// Whether this build has such a tier.
bool is_in_build(TierKind tier);
/// The last block of a sequence counts whole.
std::uint64_t blocks_a_sequence(const TierQuestion& question);

/// One row for each tier that there is and each codec that is meant for it and has a size.
std::vector<TierRow> plan_tiers(const TierSizes& tiers, const std::vector<CodecSize>& codecs,
                                const TierQuestion& question);

}  // namespace kvtier::plan
