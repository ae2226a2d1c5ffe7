#include "daemon/config/nvme_checks.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "daemon/config/blame.h"
#include "daemon/config/settings_table.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

// Where nvme.blocks_max does not say: so many of the smallest slots as the host tier has, and three times that.
constexpr std::uint64_t kBlocksPerHostSlot = 3;

void check_unused(const Config& config, std::vector<Complaint>& warnings) {
  for (const auto& row : settings_table()) {
    if (!row.info.path.starts_with("nvme.") || !is_set(config, row.info.path)) continue;
    // The annotated file sets all of them to what they are.
    const auto index = static_cast<std::size_t>(&row - settings_table().data());
    if (config.effective[index].value.text == row.info.default_text) continue;
    warnings.push_back(about(config, row.info.path, "has no effect: nvme.paths is empty",
                             "name a folder in nvme.paths, or remove it"));
  }
}

// However it is written.
std::string folder_of(const NvmePathConfig& path) {
  std::string folder = std::filesystem::path(path.dir).lexically_normal();
  if (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

void check_path(const Config& config, std::size_t i, std::vector<Complaint>& errors) {
  const NvmePathConfig& path = config.nvme.paths[i];
  const std::string name = "nvme.paths[" + std::to_string(i) + "]";
  const std::uint64_t least = kNvmeHeadBytes + kNvmeSegmentsMin * config.nvme.segment_bytes;
  if (path.bytes != 0 && path.bytes < least) {  // 0: it was no size, and that was said
    errors.push_back(
        {path.where, 0, name + ".bytes",
         format_size(path.bytes) + " has no room for " + std::to_string(kNvmeSegmentsMin) +
             " segments of nvme.segment_bytes, " + format_size(config.nvme.segment_bytes),
         "write at least " + exact_size(round_up(least, kMiB)) + ", or lower nvme.segment_bytes"});
  }
  for (std::size_t j = 0; j < i; ++j) {
    if (folder_of(config.nvme.paths[j]) != folder_of(path)) continue;
    errors.push_back({path.where, 0, name + ".dir",
                      path.dir + " is nvme.paths[" + std::to_string(j) + "] already",
                      "give each its own folder"});
  }
}

void check_budget(const Config& config, std::vector<Complaint>& warnings) {
  const std::uint64_t budget = config.nvme.write_budget_bytes_per_day;
  if (budget == 0 || budget >= config.nvme.segment_bytes) return;
  warnings.push_back(about(config, "nvme.write_budget_bytes_per_day",
                           format_size(budget) + " is less than one segment (nvme.segment_bytes is " +
                               format_size(config.nvme.segment_bytes) + "): hardly anything reaches the disk",
                           "raise it, or write 0 for no limit"));
}

// Blocks of a model are larger than this, as a rule: smaller ones are dropped unseen where names run out first.
constexpr std::uint64_t kBlockBytesUsual = 64 * kKiB;

void check_names(const Config& config, std::vector<Complaint>& warnings) {
  if (config.index.blocks_max != 0 || config.nvme.blocks_max != 0) return;
  std::uint64_t bytes = 0;
  for (const NvmePathConfig& path : config.nvme.paths) bytes += path.bytes;
  const std::uint64_t names = nvme_blocks_max(config);
  if (names == 0 || bytes / names <= kBlockBytesUsual) return;
  warnings.push_back(about(config, "nvme.blocks_max",
                           "names " + std::to_string(names) +
                               " blocks on disk by default, three for each 4 KiB of "
                               "host.bytes: with blocks smaller than " +
                               format_size(bytes / names) +
                               " the paths hold more, and the oldest are given up",
                           "raise it, some 420 bytes of memory a block, if blocks are smaller than that"));
}

void check_blocks(const Config& config, std::vector<Complaint>& errors) {
  const std::uint64_t all = config.index.blocks_max;
  if (all == 0 || config.nvme.blocks_max == 0) return;
  errors.push_back(about(config, "nvme.blocks_max",
                         "cannot be chosen beside index.blocks_max, which counts the blocks of all tiers",
                         "remove one of them"));
}

}  // namespace

std::uint64_t nvme_blocks_max(const Config& config) {
  if (config.nvme.paths.empty()) return 0;
  if (config.nvme.blocks_max != 0) return config.nvme.blocks_max;
  std::uint64_t bytes = 0;
  for (const NvmePathConfig& path : config.nvme.paths) bytes += path.bytes;
  return std::min(bytes, kBlocksPerHostSlot * config.host.bytes) / kPageBytes;
}

void check_nvme(const Config& config, std::vector<Complaint>& errors, std::vector<Complaint>& warnings) {
  const NvmeConfig& nvme = config.nvme;
  if (nvme.paths.empty()) return check_unused(config, warnings);
  if (nvme.paths.size() > kNvmePathsMax) {
    errors.push_back({nvme.paths[kNvmePathsMax].where, 0, "nvme.paths",
                      "has " + std::to_string(nvme.paths.size()) + " entries",
                      "write at most " + std::to_string(kNvmePathsMax)});
  }
  if (nvme.segment_bytes % kNvmeSegmentStep != 0) {
    errors.push_back(
        about(config, "nvme.segment_bytes",
              format_size(nvme.segment_bytes) + " is no multiple of " + format_size(kNvmeSegmentStep),
              "write " + exact_size(round_up(nvme.segment_bytes, kMiB))));
  }
  for (std::size_t i = 0; i < nvme.paths.size(); ++i) check_path(config, i, errors);
  check_budget(config, warnings);
  check_names(config, warnings);
  check_blocks(config, errors);
}

}  // namespace kvtier
