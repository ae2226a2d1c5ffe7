#include "tools/kvctl/probe_config.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "daemon/io/headroom.h"
#include "libkvclient/base/units.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint64_t kPathBytesMin = 129 * kMiB;
constexpr std::uint64_t kSegmentBytesMin = 4 * kMiB;
constexpr std::uint64_t kSegmentBytesMax = 256 * kMiB;
constexpr std::uint64_t kSegmentsWished = 64;  ///< fewer, and reclaim moves much to gain one

// A string of JSON is one of YAML.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string in_mib(std::uint64_t bytes) {
  return std::to_string(bytes / kMiB) + "MiB";
}

std::uint64_t segment_bytes(const std::vector<PathShare>& shares) {
  std::uint64_t least = kSegmentBytesMax * kSegmentsWished;
  for (const PathShare& share : shares) {
    if (share.bytes != 0) least = std::min(least, share.bytes);
  }
  return std::clamp(std::bit_floor(least / kSegmentsWished), kSegmentBytesMin, kSegmentBytesMax);
}

}  // namespace

std::vector<PathShare> share_space(const std::vector<DiskProbe>& probes) {
  std::vector<PathShare> shares;
  for (const DiskProbe& probe : probes) {
    const auto sharers =
        static_cast<std::uint64_t>(std::ranges::count(probes, probe.device, &DiskProbe::device));
    // What the daemon would keep free, which sets nvme.headroom by itself, and a tenth of the rest.
    const std::uint64_t headroom = headroom_default(probe.file_system_bytes);
    const std::uint64_t spare = probe.free_bytes - std::min(probe.free_bytes, headroom);
    const std::uint64_t bytes = probe.store_bytes + spare / 10 * 9 / sharers;
    shares.push_back({probe.path.folder, bytes < kPathBytesMin ? 0 : round_up(bytes, kMiB)});
  }
  return shares;
}

std::string nvme_config(const std::vector<DiskProbe>& probes) {
  const std::vector<PathShare> shares = share_space(probes);
  if (std::ranges::all_of(shares, [](const PathShare& share) { return share.bytes == 0; }))
    return "nvme:\n  paths: []\n";
  std::string text =
      "nvme:\n  backend: auto\n  direct: auto\n  segment_bytes: " + in_mib(segment_bytes(shares)) +
      "\n  paths:\n";
  for (const PathShare& share : shares) {
    if (share.bytes == 0) continue;
    text += "    - {dir: " + quoted(share.folder) + ", bytes: " + in_mib(share.bytes) + "}\n";
  }
  return text;
}

}  // namespace kvtier::ctl
