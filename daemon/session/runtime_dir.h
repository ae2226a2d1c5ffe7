#pragma once
// The directory of sockets and counters: made with mode 0750, or checked when it is there.

#include <sys/types.h>

#include <optional>
#include <string>

#include "libkvclient/base/status.h"

namespace kvtier {

/// Creates `path` (its parent must exist) with mode 0750 and `group`, whatever the umask. An existing
/// directory is left as it is, but refused where a stranger could swap our files: owned by another user, or
/// writable by others without the sticky bit.
Status prepare_runtime_dir(const std::string& path, std::optional<gid_t> group);

/// "" is no group; a name or a number. kNotFound: no such group.
Status find_group(const std::string& name, std::optional<gid_t>& group);

}  // namespace kvtier
