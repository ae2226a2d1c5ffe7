#include "daemon/disk/store_choice.h"

#include <algorithm>
#include <bit>
#include <string>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

/// What the paths that open say of the store.
struct Known {
  StoreId store{};
  std::uint32_t path_count = 0;  ///< numbers given out
  std::uint64_t epoch = 0;
  std::uint64_t created_ns = 0;
  std::uint64_t here = 0;  ///< a bit for each path that is
  std::uint64_t given_up = 0;
};

Known know(std::span<const PathFinding> paths, const std::vector<Status>& verdicts) {
  Known known;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!verdicts[i].is_ok()) continue;
    known.epoch = std::max(known.epoch, paths[i].epoch_max);
    if (!paths[i].has_store()) continue;
    const Superblock& block = paths[i].superblock.superblock;
    known.store = block.store;
    known.created_ns = block.created_ns;
    known.path_count = std::max(known.path_count, block.path_count);
    known.epoch = std::max(known.epoch, block.epoch);
    known.here |= std::uint64_t{1} << block.path;
    known.given_up |= block.given_up;
  }
  return known;
}

// Whose it is, or was, cannot be told: it may be a path of the store that none of the others knows.
bool is_unknown(const PathFinding& path, const Status& verdict) {
  return !verdict.is_ok() && !path.has_store();
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

Result<StoreChoice> choose_store(std::span<const PathFinding> paths, const DiskStoreOptions& options,
                                 std::uint64_t wall_ns) {
  Result<std::vector<Status>> verdicts = judge_paths(paths, options.home);
  if (!verdicts.is_ok()) return verdicts.status();
  StoreChoice choice{.verdicts = std::move(verdicts).value()};
  Known known = know(paths, choice.verdicts);
  choice.is_new = known.here == 0;
  bool is_any_out = options.is_path_left_out;
  choice.is_path_missing = options.is_path_left_out;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    is_any_out = is_any_out || !choice.verdicts[i].is_ok();
    choice.is_path_missing = choice.is_path_missing || is_unknown(paths[i], choice.verdicts[i]);
  }
  const std::uint64_t missing = missing_paths(known);
  // What stays shut now is here all the same.
  if (options.missing == MissingPolicy::kGiveUp && !is_any_out) {
    known.given_up |= missing;
    choice.given_up_count = static_cast<std::uint32_t>(std::popcount(missing));
  } else {
    choice.is_path_missing = choice.is_path_missing || missing != 0;
  }
  if (choice.is_new) {
    known.store = options.fresh_store;
    known.created_ns = wall_ns;
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!choice.verdicts[i].is_ok()) continue;
    const bool is_new = paths[i].superblock.is_new;
    choice.superblocks.push_back(is_new ? made_new(options, known.path_count++)
                                        : paths[i].superblock.superblock);
    Superblock& block = choice.superblocks.back();
    fit(block, paths[i]);
    if (segments_in(paths[i].file.bytes, block.segment_bytes) < kSegmentsMin) {
      return Status(Code::kNoSpace, path_name(paths, i) + ": a file of " + format_size(paths[i].file.bytes) +
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
