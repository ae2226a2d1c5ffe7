#include "daemon/disk/judge_paths.h"

#include <algorithm>
#include <string>

namespace kvtier {
namespace {

using Verdicts = std::vector<Status>;

Status invalid(std::span<const PathFinding> paths, std::size_t path, const std::string& why) {
  return {Code::kInvalid, path_name(paths, path) + ": " + why};
}

Status judge_alone(std::span<const PathFinding> paths, std::size_t i, HomePolicy home) {
  const PathFinding& path = paths[i];
  if (!path.status.is_ok()) return path.status;
  if (path.superblock.is_new && path.has_content) {
    return invalid(paths, i,
                   "its superblocks are blank and its segments are not: a store that lost them, or another "
                   "program's file. Move it away to begin with an empty one");
  }
  if (home == HomePolicy::kMoved || !is_elsewhere(path)) return Status::ok();
  const Superblock& block = path.superblock.superblock;
  const auto words = [](std::uint64_t inode, std::uint64_t birth_ns, std::uint64_t fsid) {
    const std::string birth =
        birth_ns == 0 ? "at a time not known" : "at " + std::to_string(birth_ns) + " ns";
    return "inode " + std::to_string(inode) + ", made " + birth + ", file system " + std::to_string(fsid);
  };
  const FileHome& here = path.file.home;
  return invalid(paths, i,
                 "its file was made elsewhere (" +
                     words(block.home_inode, block.home_birth_ns, block.home_fsid) + "; here " +
                     words(here.inode, here.birth_ns, here.fsid) +
                     "): it may be a copy of a store that is in use. Say with nvme.home whether it moved or "
                     "begins anew");
}

std::size_t count_paths(std::span<const PathFinding> paths, const Verdicts& verdicts, const StoreId& store) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (verdicts[i].is_ok() && paths[i].has_store() && paths[i].superblock.superblock.store == store) ++count;
  }
  return count;
}

// The store is the one that most paths are of. Nothing but their number says which is meant, so of equals none is taken: the
// other one would miss what was invalidated meanwhile.
Status judge_stores(std::span<const PathFinding> paths, Verdicts& verdicts) {
  std::size_t most = 0;
  std::size_t chosen = paths.size();
  std::size_t equal = paths.size();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!verdicts[i].is_ok() || !paths[i].has_store()) continue;
    const StoreId& store = paths[i].superblock.superblock.store;
    if (chosen != paths.size() && paths[chosen].superblock.superblock.store == store) continue;
    const std::size_t count = count_paths(paths, verdicts, store);
    if (count == most) equal = i;
    if (count <= most) continue;
    most = count;
    chosen = i;
    equal = paths.size();
  }
  if (equal != paths.size()) {
    return invalid(paths, equal,
                   "it belongs to another store than " + path_name(paths, chosen) +
                       ", and nothing says which of the two is meant. Name the paths of one of them, or move "
                       "the files of the other away. Nothing was changed.");
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!verdicts[i].is_ok() || !paths[i].has_store()) continue;
    if (paths[i].superblock.superblock.store == paths[chosen].superblock.superblock.store) continue;
    verdicts[i] = invalid(paths, i,
                          "it belongs to another store than " + path_name(paths, chosen) +
                              ", which has more of the paths. Name another folder, or move its file away to "
                              "begin with an empty one");
  }
  return Status::ok();
}

Status check_twins(std::span<const PathFinding> paths, const Verdicts& verdicts) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool are_both =
          verdicts[i].is_ok() && verdicts[j].is_ok() && paths[i].has_store() && paths[j].has_store();
      if (!are_both || paths[i].superblock.superblock.path != paths[j].superblock.superblock.path) continue;
      return invalid(paths, i,
                     "it is the same path as " + path_name(paths, j) +
                         ": a copy. Name one of the two. Nothing was changed.");
    }
  }
  return Status::ok();
}

// What was invalidated while it was away is not noted for it any more. Two that gave each other up ran apart: both go.
void judge_struck_off(std::span<const PathFinding> paths, Verdicts& verdicts) {
  const Verdicts before = verdicts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (!before[i].is_ok() || !paths[i].has_store()) continue;
    for (std::size_t j = 0; j < paths.size(); ++j) {
      if (!before[j].is_ok() || !paths[j].has_store() ||
          !is_given_up(paths[j].superblock.superblock, paths[i].superblock.superblock.path))
        continue;
      verdicts[i] =
          invalid(paths, i,
                  "it was given up (nvme.missing: give_up) when " + path_name(paths, j) +
                      " was opened without it. Move its file away: it then begins as an empty path");
      break;
    }
  }
}

// The words of what the path itself said end with what was changed: nothing.
Status refusal_of(const PathFinding& path, const Status& verdict) {
  return {verdict.code(), verdict.message() + (path.status.is_ok() ? ". Nothing was changed." : ".")};
}

}  // namespace

std::string path_name(std::span<const PathFinding> paths, std::size_t path) {
  const std::string& folder = paths[path].file.folder;
  return folder.empty() ? "path " + std::to_string(path) : folder;
}

Result<std::vector<Status>> judge_paths(std::span<const PathFinding> paths, HomePolicy home) {
  Verdicts verdicts;
  for (std::size_t i = 0; i < paths.size(); ++i) verdicts.push_back(judge_alone(paths, i, home));
  KV_RETURN_IF_ERROR(judge_stores(paths, verdicts));
  KV_RETURN_IF_ERROR(check_twins(paths, verdicts));
  judge_struck_off(paths, verdicts);
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (verdicts[i].is_ok() && paths[i].has_store()) return verdicts;
  }
  // What stays shut may be the store that the others would be made anew beside.
  const auto out = std::ranges::find_if(verdicts, [](const Status& each) { return !each.is_ok(); });
  if (out == verdicts.end()) return verdicts;
  return refusal_of(paths[static_cast<std::size_t>(out - verdicts.begin())], *out);
}

}  // namespace kvtier
