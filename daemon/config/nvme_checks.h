#pragma once
// The settings of the NVMe tier against each other and against the rest.

#include <vector>

#include "daemon/config/complaint.h"
#include "daemon/config/config.h"

namespace kvtier {

inline constexpr std::size_t kNvmePathsMax = 64;
/// What a path needs of its file before its segments, how many of them, and what their size is a multiple of: as the
/// format has it (app compares).
inline constexpr std::uint64_t kNvmeHeadBytes = 1ULL << 20;
inline constexpr std::uint64_t kNvmeSegmentsMin = 4;
inline constexpr std::uint64_t kNvmeSegmentStep = 64ULL << 10;

void check_nvme(const Config& config, std::vector<Complaint>& errors, std::vector<Complaint>& warnings);

/// Blocks on disk alone that index and directories are sized for; 0 without a tier.
std::uint64_t nvme_blocks_max(const Config& config);

}  // namespace kvtier
