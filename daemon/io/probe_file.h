#pragma once
// A file for trying a path out. It has no name, or loses it at once: a killed probe leaves nothing behind.

#include <string>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

/// Reads and writes; `flags`: O_DIRECT or 0. kNotFound, kDenied, kNoSpace, kSystem with folder, errno and advice.
Result<UniqueFd> open_probe_file(const std::string& folder, int flags);
/// Whether the file's first bytes are in the page cache: then O_DIRECT was taken and not done.
Result<bool> is_in_page_cache(int fd, std::uint64_t bytes);
/// "ext4", "tmpfs", "overlay", or the number of statfs in hexadecimal digits.
std::string file_system_name(int fd);

}  // namespace kvtier
