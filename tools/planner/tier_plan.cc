#include "tools/planner/tier_plan.h"

#include <algorithm>

#include "daemon/disk/format_geometry.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/types.h"

namespace kvtier::plan {
namespace {

constexpr double kSecondsPerDay = 86'400;

// Which codecs a tier is meant to keep: fixed sizes fill slots, variable ones only the log on disk.
bool is_meant_for(TierKind tier, Codec codec) {
  if (tier == TierKind::kGpu) return codec == Codec::kRaw;
  return tier == TierKind::kNvme || (codec != Codec::kXpl && codec != Codec::kMix);
}

std::uint64_t slots_in(std::uint64_t slab_bytes, std::uint64_t slot_bytes) {
  return std::min<std::uint64_t>(slab_bytes / slot_bytes, SlotRef::kSlotsMax);
}

// The last slab may be a shorter one.
std::uint64_t host_blocks(const TierSizes& tiers, std::uint64_t slot_bytes) {
  if (tiers.slab_bytes == 0) return 0;
  return tiers.host_bytes / tiers.slab_bytes * slots_in(tiers.slab_bytes, slot_bytes) +
         slots_in(tiers.host_bytes % tiers.slab_bytes, slot_bytes);
}

bool fit(const SegmentGeometry& geometry, std::uint64_t records, std::uint64_t record_bytes) {
  const std::uint64_t used =
      data_offset(geometry) + records * record_bytes + footer_bytes(geometry, 1, records);
  return used <= geometry.segment_bytes && index_bytes(1, records) <= kIndexBytesMax;
}

std::uint64_t records_in_segment(std::uint64_t segment_bytes, std::uint64_t record_bytes) {
  const SegmentGeometry geometry{segment_bytes, kAlignmentMin};
  std::uint64_t fits = 0;
  std::uint64_t beyond = segment_bytes / record_bytes + 1;
  while (beyond - fits > 1) {
    const std::uint64_t middle = fits + (beyond - fits) / 2;
    (fit(geometry, middle, record_bytes) ? fits : beyond) = middle;
  }
  return fits;
}

// A path's last free segment is for what reclaim moves.
std::uint64_t nvme_blocks(const TierSizes& tiers, std::uint64_t record_bytes) {
  std::uint64_t segments = 0;
  for (const std::uint64_t bytes : tiers.nvme_path_bytes) {
    const std::uint64_t all = bytes <= kSegmentsOffset ? 0 : (bytes - kSegmentsOffset) / tiers.segment_bytes;
    segments += all - std::min<std::uint64_t>(all, 1);
  }
  return segments * records_in_segment(tiers.segment_bytes, record_bytes);
}

std::string too_large(std::uint64_t bytes, std::uint64_t most, std::string_view what, std::string_view cure) {
  return "a block of " + format_size(bytes) + " is larger than " + std::string(what) + ", " +
         format_size(most) + ": " + std::string(cure);
}

void count_host(const TierSizes& tiers, TierRow& row) {
  if (row.block_bytes > std::min(tiers.slab_bytes, tiers.host_bytes))
    row.note = too_large(row.block_bytes, tiers.slab_bytes, "a slab",
                         "raise host.slab_bytes or lower --block-tokens");
  row.blocks = host_blocks(tiers, row.block_bytes);
}

void count_nvme(const TierSizes& tiers, const PayloadSize& size, TierRow& row) {
  if (size.slot_bytes > tiers.block_bytes_max) {
    row.note = too_large(size.slot_bytes, tiers.block_bytes_max, "what goes to disk",
                         "raise host.slab_bytes or nvme.segment_bytes, or lower --block-tokens");
    return;
  }
  row.blocks = nvme_blocks(tiers, row.block_bytes);
}

void bound_by_index(const TierSizes& tiers, TierRow& row) {
  if (row.tier == TierKind::kGpu || row.blocks <= tiers.blocks_max) return;
  row.note = "the index has room for " + std::to_string(tiers.blocks_max) + " of " +
             std::to_string(row.blocks) + " blocks: raise nvme.blocks_max or index.blocks_max";
  row.blocks = tiers.blocks_max;
}

TierRow plan_row(TierKind tier, const TierSizes& tiers, const CodecSize& codec,
                 const TierQuestion& question) {
  TierRow row{.tier = tier, .codec = codec.codec};
  row.block_bytes = tier == TierKind::kNvme ? codec.size.record_bytes : codec.size.slot_bytes;
  const std::uint64_t blocks = blocks_a_sequence(question);
  if (tier == TierKind::kGpu) row.blocks = tiers.gpu_bytes / row.block_bytes;
  if (tier == TierKind::kHost) count_host(tiers, row);
  if (tier == TierKind::kNvme) count_nvme(tiers, codec.size, row);
  bound_by_index(tiers, row);
  row.tokens = row.blocks * question.block_tokens;
  row.sequences = row.blocks / blocks;
  if (tier == TierKind::kNvme && tiers.puts_bytes_per_day != 0) {
    const double all = static_cast<double>(blocks) * static_cast<double>(question.workload.batch) *
                       static_cast<double>(written_bytes(codec.size));
    row.budget_seconds = all * kSecondsPerDay / static_cast<double>(tiers.puts_bytes_per_day);
  }
  return row;
}

}  // namespace

std::string_view tier_name(TierKind tier) {
  switch (tier) {
    case TierKind::kGpu:
      return "gpu";
    case TierKind::kHost:
      return "host";
    case TierKind::kNvme:
      break;
  }
  return "nvme";
}

bool is_in_build(TierKind tier) {
  return tier != TierKind::kGpu;
}

std::uint64_t blocks_a_sequence(const TierQuestion& question) {
  const std::uint64_t tokens = question.workload.tokens;
  return tokens / question.block_tokens + (tokens % question.block_tokens == 0 ? 0 : 1);
}

std::vector<TierRow> plan_tiers(const TierSizes& tiers, const std::vector<CodecSize>& codecs,
                                const TierQuestion& question) {
  std::vector<TierRow> rows;
  for (const TierKind tier : {TierKind::kGpu, TierKind::kHost, TierKind::kNvme}) {
    const bool is_there = tier == TierKind::kGpu    ? tiers.gpu_bytes != 0
                          : tier == TierKind::kHost ? tiers.host_bytes != 0
                                                    : !tiers.nvme_path_bytes.empty();
    for (const CodecSize& codec : codecs) {
      if (is_there && codec.refusal.empty() && is_meant_for(tier, codec.codec))
        rows.push_back(plan_row(tier, tiers, codec, question));
    }
  }
  return rows;
}

}  // namespace kvtier::plan
