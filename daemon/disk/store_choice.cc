#include "daemon/disk/store_choice.h"

#include <algorithm>
#include <bit>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

std::string name_of(std::span<const PathFinding> paths, std::size_t path) {
  const std::string& folder = paths[path].file.folder;
  return folder.empty() ? "path " + std::to_string(path) : folder;
}

Status refuse(std::span<const PathFinding> paths, std::size_t path, const std::string& why) {
  return {Code::kInvalid, name_of(paths, path) + ": " + why + " Nothing was changed."};
}

FileHome home_of(const Superblock& block) {
  return {.inode = block.home_inode, .birth_ns = block.home_birth_ns, .fsid = block.home_fsid};
}

std::string home_text(const FileHome& home) {
  const std::string birth =
      home.birth_ns == 0 ? "at a time not known" : "at " + std::to_string(home.birth_ns) + " ns";
  return "inode " + std::to_string(home.inode) + ", made " + birth + ", file system " +
         std::to_string(home.fsid);
}

Status check_new(std::span<const PathFinding> paths, std::size_t i) {
  if (!paths[i].has_content) return Status::ok();
  return refuse(
      paths, i,
      "its superblocks are blank and its segments are not: a store that lost them, or another program's "
      "file. Move it away to begin with an empty one.");
}

Status check_old(std::span<const PathFinding> paths, std::size_t i, const DiskStoreOptions& options) {
  const Superblock& block = paths[i].superblock.superblock;
  if (options.home != HomePolicy::kMoved && is_elsewhere(paths[i])) {
    return refuse(paths, i,
                  "its file was made elsewhere (" + home_text(home_of(block)) + "; here " +
                      home_text(paths[i].file.home) +
                      "): it may be a copy of a store that is in use. Say with nvme.home whether it moved or "
                      "begins anew.");
  }
  for (std::size_t j = 0; j < i; ++j) {
    const Superblock& other = paths[j].superblock.superblock;
    if (paths[j].superblock.is_new) continue;
    if (other.store != block.store)
      return refuse(paths, i, "it belongs to another store than " + name_of(paths, j) + ".");
    if (other.path == block.path)
      return refuse(paths, i, "it is the same path as " + name_of(paths, j) + ": a copy.");
  }
  return Status::ok();
}

// What was invalidated while it was away is not noted for it any more.
Status check_struck_off(std::span<const PathFinding> paths, std::size_t i) {
  for (std::size_t j = 0; j < paths.size(); ++j) {
    if (paths[j].superblock.is_new ||
        !is_given_up(paths[j].superblock.superblock, paths[i].superblock.superblock.path))
      continue;
    return refuse(paths, i,
                  "it was given up (nvme.missing: give_up) when " + name_of(paths, j) +
                      " was opened without it. Move its file away: it then begins as an empty path.");
  }
  return Status::ok();
}

Status check_all(std::span<const PathFinding> paths, const DiskStoreOptions& options) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    KV_RETURN_IF_ERROR(paths[i].superblock.is_new ? check_new(paths, i) : check_old(paths, i, options));
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!paths[i].superblock.is_new) KV_RETURN_IF_ERROR(check_struck_off(paths, i));
  }
  return Status::ok();
}

/// What the paths that are there say of the store.
struct Known {
  StoreId store{};
  std::uint32_t path_count = 0;  ///< numbers given out
  std::uint64_t epoch = 0;
  std::uint64_t created_ns = 0;
  std::uint64_t here = 0;  ///< a bit for each path that is
  std::uint64_t given_up = 0;
};

Known know(std::span<const PathFinding> paths) {
  Known known;
  for (const PathFinding& path : paths) {
    known.epoch = std::max(known.epoch, path.epoch_max);
    if (path.superblock.is_new) continue;
    const Superblock& block = path.superblock.superblock;
    known.store = block.store;
    known.created_ns = block.created_ns;
    known.path_count = std::max(known.path_count, block.path_count);
    known.epoch = std::max(known.epoch, block.epoch);
    known.here |= std::uint64_t{1} << block.path;
    known.given_up |= block.given_up;
  }
  return known;
}

/// A bit for each path that the store has and that is not here.
std::uint64_t missing_paths(const Known& known) {
  const std::uint64_t numbers =
      known.path_count >= kPathsMax ? ~std::uint64_t{0} : (std::uint64_t{1} << known.path_count) - 1;
  return numbers & ~known.here & ~known.given_up;
}

Superblock made_new(const DiskStoreOptions& options, std::uint32_t number) {
  Superblock block{};
  block.path = number;
  block.alignment = options.alignment;
  block.segment_bytes = options.segment_bytes;
  return block;
}

void fit(Superblock& block, const PathFinding& path) {
  block.segment_count = segments_in(path.file.bytes, block.segment_bytes);
  block.home_fsid = path.file.home.fsid;
  block.home_inode = path.file.home.inode;
  block.home_birth_ns = path.file.home.birth_ns;
}

}  // namespace

bool is_elsewhere(const PathFinding& path) {
  if (path.superblock.is_new) return false;
  return !is_same_home(home_of(path.superblock.superblock), path.file.home);
}

std::uint64_t lost_bytes(const PathFinding& path) {
  if (path.superblock.is_new) return 0;
  const Superblock& block = path.superblock.superblock;
  const std::uint64_t had = segments_end(block.segment_count, block.segment_bytes);
  return had - std::min(had, path.file.bytes);
}

Result<StoreChoice> choose_store(std::span<const PathFinding> paths, const DiskStoreOptions& options,
                                 std::uint64_t wall_ns) {
  KV_RETURN_IF_ERROR(check_all(paths, options));
  Known known = know(paths);
  StoreChoice choice{.is_new = known.here == 0};
  const std::uint64_t missing = missing_paths(known);
  if (options.missing == MissingPolicy::kGiveUp) {
    known.given_up |= missing;
    choice.given_up_count = static_cast<std::uint32_t>(std::popcount(missing));
  } else {
    choice.is_path_missing = missing != 0;
  }
  if (choice.is_new) {
    known.store = options.fresh_store;
    known.created_ns = wall_ns;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const bool is_new = paths[i].superblock.is_new;
    choice.superblocks.push_back(is_new ? made_new(options, known.path_count++)
                                        : paths[i].superblock.superblock);
    Superblock& block = choice.superblocks.back();
    fit(block, paths[i]);
    if (segments_in(paths[i].file.bytes, block.segment_bytes) < kSegmentsMin) {
      return Status(Code::kNoSpace, name_of(paths, i) + ": a file of " + format_size(paths[i].file.bytes) +
                                        " has no room for " + std::to_string(kSegmentsMin) + " segments of " +
                                        format_size(block.segment_bytes) + ". Nothing was changed.");
    }
  }
  if (known.path_count > kPathsMax)
    return Status(Code::kInvalid, "a store has at most 64 paths over its life");
  for (Superblock& block : choice.superblocks) {
    block.store = known.store;
    block.path_count = known.path_count;
    block.created_ns = known.created_ns;
    block.given_up = known.given_up;
    block.epoch = known.epoch + 1;
    ++block.revision;
  }
  return choice;
}

}  // namespace kvtier
