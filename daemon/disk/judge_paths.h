#pragma once
// Which of the paths that are there open together, as one store, and why the others stay shut. Pure.
//
// A path that is not understood, or is not this store's, is left as it is, and the others open without it: it counts as
// missing, so marks stay for it and nothing is struck off. Nothing opens where that would be a guess at whose blocks are right:
// no other path has a store, two stores have as many paths, or one path of a store is there twice.

#include <span>
#include <string>
#include <vector>

#include "daemon/disk/path_finding.h"

namespace kvtier {

/// What messages call it: its folder, or its place.
std::string path_name(std::span<const PathFinding> paths, std::size_t path);

/// One a path: ok, it opens; else why it does not, without a full stop: what it was found with (PathFinding::status), or
/// kInvalid: content without superblock, a copy (D-15), another store's, one that was given up. A refusal of all: kInvalid, or
/// the first one's cause where no path with a store is left.
Result<std::vector<Status>> judge_paths(std::span<const PathFinding> paths, HomePolicy home);

}  // namespace kvtier
