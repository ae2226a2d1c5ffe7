#include "daemon/tier/path_opening.h"

#include <sys/statfs.h>

#include <algorithm>

#include "daemon/disk/format.h"
#include "daemon/disk/store_choice.h"
#include "daemon/io/headroom.h"
#include "libkvclient/base/units.h"
#include "libkvclient/wire/types.h"

namespace kvtier {
namespace {

// Slots begin at multiples of kSlotAlignment: a device that wants more cannot read into them directly.
IoFact<bool> choose_direct(const PathProbe& probe, DirectUse use) {
  if (use == DirectUse::kOff) return {false, "not wished for"};
  if (!probe.direct.value) return probe.direct;
  if (probe.alignment.value <= kSlotAlignment) return {true, {}};
  return {false, "the device wants an alignment of " + std::to_string(probe.alignment.value) +
                     ", slots have " + std::to_string(kSlotAlignment)};
}

// What stays free where no setting says it. Where the file system does not tell its size own_path() finds out too.
std::uint64_t headroom_of(const DiskFolder& folder, const PathOpeningOptions& options) {
  if (options.headroom_bytes != 0) return options.headroom_bytes;
  struct statfs system {};
  if (::statfs(folder.folder.c_str(), &system) != 0) return kGiB;
  return headroom_default(static_cast<std::uint64_t>(system.f_blocks) *
                          static_cast<std::uint64_t>(system.f_frsize));
}

Result<OwnedPath> try_path(const DiskFolder& folder, const PathOpeningOptions& options,
                           DiskPathFacts& facts) {
  const Result<PathProbe> probe = probe_path(folder.folder, options.engine);
  if (!probe.is_ok()) return probe.status();
  facts.file_system = probe.value().file_system;
  facts.registered_buffers = probe.value().registered_buffers;
  facts.direct = choose_direct(probe.value(), options.direct);
  if (options.direct == DirectUse::kOn && !facts.direct.value) {
    return Status(Code::kUnsupported, folder.folder +
                                          ": O_DIRECT is demanded and does not work: " + facts.direct.reason +
                                          "; set nvme.direct to auto, or use another folder");
  }
  if (facts.direct.value) facts.alignment = probe.value().alignment.value;
  facts.headroom_bytes = headroom_of(folder, options);
  return own_path({.folder = folder.folder, .use_direct = facts.direct.value, .instance = options.instance});
}

}  // namespace

std::string lost_path_text(const DiskPathFacts& facts) {
  if (facts.lost_bytes == 0) return {};
  return "lost the last " + format_size(facts.lost_bytes) +
         " of its file, and the blocks there: something other than kvtierd cut " +
         std::string(kStoreFileName) + "; look for what did, or restart kvtierd to go on without them";
}

std::string short_path_text(const DiskPathFacts& facts) {
  std::string lost = lost_path_text(facts);
  if (facts.bytes >= facts.bytes_wanted) return lost;
  return (lost.empty() ? lost : lost + "; and it ") + "has " + format_size(facts.bytes) + " of " +
         format_size(facts.bytes_wanted) + ": its file system had no more beside the " +
         format_size(facts.headroom_bytes) +
         " of nvme.headroom that stay free; free room and restart, or lower nvme.paths[].bytes";
}

PathSizeOptions path_size_options(const PathFinding& finding, const PathOpeningOptions& options,
                                  const DiskPathFacts& facts) {
  const std::uint64_t segment_bytes =
      finding.superblock.is_new ? options.segment_bytes : finding.superblock.superblock.segment_bytes;
  return {.bytes_max = facts.bytes_wanted,
          .bytes_min = segments_end(kSegmentsMin, segment_bytes),
          .step_bytes = segment_bytes,
          .headroom_bytes = facts.headroom_bytes};
}

Status settle_disk_path(OwnedPath& path, const PathSizeOptions& size, DiskPathFacts& facts) {
  const std::uint64_t found = path.bytes;
  KV_RETURN_IF_ERROR(size_path(path, size));
  facts.bytes = path.bytes;
  facts.given_up_bytes = size.is_given_up ? found : 0;
  facts.is_short = path.is_short || facts.lost_bytes != 0;
  return Status::ok();
}

Result<OwnedPath> open_disk_path(const DiskFolder& folder, const PathOpeningOptions& options,
                                 DiskPathFacts& facts) {
  facts.folder = folder.folder;
  facts.bytes_wanted = folder.bytes;
  Result<OwnedPath> owned = try_path(folder, options, facts);
  facts.is_open = owned.is_ok();
  if (owned.is_ok()) {
    facts.bytes = owned.value().bytes;
    facts.file_inode = owned.value().home.inode;
  } else {
    facts.cause = owned.status().message();
  }
  return owned;
}

}  // namespace kvtier
