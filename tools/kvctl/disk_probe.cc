#include "tools/kvctl/disk_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "daemon/io/probe_file.h"
#include "libkvclient/base/path_error.h"
#include "libkvclient/base/units.h"
#include "tools/kvctl/disk_trial.h"
#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {
namespace {

constexpr std::uint32_t kSlotAlignment = 4096;  ///< of host memory: a device that wants more gets no O_DIRECT
constexpr std::uint64_t kTrialBytesMin = 64 * kMiB;
constexpr std::uint64_t kTrialBytesMax = 4 * kGiB;

struct Cell {
  IoKind kind;
  std::uint32_t block_bytes;
  std::uint32_t depth;
};
// The first one also makes what the others read.
constexpr std::array<Cell, 12> kCells = {{{IoKind::kWrite, kMiB, 32},
                                          {IoKind::kWrite, kMiB, 8},
                                          {IoKind::kWrite, kMiB, 1},
                                          {IoKind::kWrite, 64 * kKiB, 32},
                                          {IoKind::kWrite, 64 * kKiB, 8},
                                          {IoKind::kWrite, 64 * kKiB, 1},
                                          {IoKind::kRead, kMiB, 32},
                                          {IoKind::kRead, kMiB, 8},
                                          {IoKind::kRead, kMiB, 1},
                                          {IoKind::kRead, 64 * kKiB, 32},
                                          {IoKind::kRead, 64 * kKiB, 8},
                                          {IoKind::kRead, 64 * kKiB, 1}}};

void look_at_space(const std::string& folder, DiskProbe& probe) {
  struct statvfs space {};
  struct stat facts {};
  if (::statvfs(folder.c_str(), &space) != 0 || ::stat(folder.c_str(), &facts) != 0)
    fail_probe(path_error("statvfs(" + folder + ")", errno));
  probe.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  probe.file_system_bytes = std::uint64_t{space.f_blocks} * space.f_frsize;
  probe.device = facts.st_dev;
  if (::stat((folder + "/kvtier.data").c_str(), &facts) == 0)
    probe.store_bytes = static_cast<std::uint64_t>(facts.st_size);
}

std::uint64_t trial_bytes(const std::string& folder, const DiskProbe& probe) {
  const std::uint64_t half = probe.free_bytes / 2 & ~(kMiB - 1);
  if (half >= kTrialBytesMin) return std::min(half, kTrialBytesMax);
  throw Failure(kExitFailed, "no_space",
                folder + " has " + format_size(probe.free_bytes) + " free, and a trial takes " +
                    format_size(kTrialBytesMin) +
                    " of at least twice as much: free some, or use another folder");
}

}  // namespace

DiskProbe probe_disk(const std::string& folder, TimeNs time_ns) {
  Result<PathProbe> path = probe_path(folder, {});
  if (!path.is_ok()) fail_probe(path.status());
  DiskProbe probe{.path = std::move(path).value()};
  look_at_space(folder, probe);
  probe.is_direct = probe.path.direct.value && probe.path.alignment.value <= kSlotAlignment;
  const Result<UniqueFd> file = open_probe_file(folder, probe.is_direct ? O_DIRECT : 0);
  if (!file.is_ok()) fail_probe(file.status());
  DiskTrial trial(file.value().get(), probe.is_direct ? probe.path.alignment.value : 1,
                  trial_bytes(folder, probe));
  probe.depth_max = trial.depth();
  for (const Cell& cell : kCells) {
    const std::uint64_t rate = trial.run(cell.kind, cell.block_bytes, cell.depth, time_ns / kCells.size());
    probe.rates.push_back({cell.kind, cell.block_bytes, cell.depth, rate});
  }
  probe.trial_bytes = trial.written_bytes();
  return probe;
}

const DiskRate& best_rate(const DiskProbe& probe, IoKind kind) {
  return *std::ranges::max_element(
      probe.rates, {}, [&](const DiskRate& rate) { return rate.kind == kind ? rate.bytes_per_second : 0; });
}

}  // namespace kvtier::ctl
