#pragma once
// What a path can do, found by doing it: blocks are written, read back and compared. What only opened does not count.

#include <string>
#include <vector>

#include "daemon/io/io_engine.h"

namespace kvtier {

/// Effective values of one path, for decisions and for `kvctl status`.
struct PathProbe {
  std::string folder;
  std::string file_system;
  IoFact<std::string> engine;
  IoFact<bool> direct;  ///< O_DIRECT works and bypasses the page cache
  IoFact<std::uint32_t>
      alignment;  ///< smallest that worked for offsets, lengths and memory; 1 without `direct`
  IoFact<bool> registered_buffers;
  IoFact<bool> polled;  ///< a polled ring wrote and read
};

/// Takes milliseconds on a device that answers. A failure: this path cannot be used at all, with the reason. A device
/// that never answers stops the caller until it does.
Result<PathProbe> probe_path(const std::string& folder, const IoEngineOptions& options);

std::vector<IoFactRow> probe_rows(const PathProbe& probe);

}  // namespace kvtier
