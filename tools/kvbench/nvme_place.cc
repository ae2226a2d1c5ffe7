#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "libkvclient/base/units.h"
#include "tools/kvbench/nvme.h"
#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {

namespace fs = std::filesystem;

NvmeLayout nvme_layout(std::uint64_t block_bytes, std::uint64_t bytes, std::uint64_t host_bytes) {
  constexpr std::uint64_t kChainBytesMax = 32 * kMiB;
  constexpr std::uint64_t kChainBlocksMax = 1024;
  const std::uint64_t chain_blocks =
      std::clamp<std::uint64_t>(kChainBytesMax / block_bytes, 1, kChainBlocksMax);
  const std::uint64_t chain_bytes = chain_blocks * block_bytes;
  return {block_bytes, static_cast<std::size_t>(chain_blocks), host_bytes / chain_bytes + 2,
          bytes / chain_bytes};
}

NvmePlace::NvmePlace(const std::string& below) : path_((fs::path(below) / "kvbench-nvme-XXXXXX").string()) {
  need(::mkdtemp(path_.data()) != nullptr,
       "cannot make a folder in " + below + ": name another with --folder");
}

NvmePlace::~NvmePlace() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string NvmePlace::make(const std::string& name) const {
  fs::create_directories(path_ + "/" + name);
  return path_ + "/" + name;
}

std::string nvme_config(const std::string& folder, std::uint64_t bytes, const std::string& more) {
  constexpr std::uint64_t kSpare = std::uint64_t{1}
                                   << 30;  // segments that reclaim keeps free, and those begun
  return "nvme:\n" + more + "  paths:\n    - {dir: " + folder +
         ", bytes: " + std::to_string((bytes + kSpare) / kMiB) + "MiB}\n";
}

}  // namespace kvtier::bench
