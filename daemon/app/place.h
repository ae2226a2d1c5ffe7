#pragma once
// What an instance owns in the file system. All of it is locked before a file of another instance is touched,
// before memory is taken and before the log is there.

#include <memory>
#include <optional>

#include "daemon/config/config.h"
#include "daemon/session/listener.h"
#include "daemon/session/socket_lock.h"

namespace kvtier {

struct Place {
  std::optional<gid_t> admin_group;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Listener> admin_listener;
  std::optional<SocketLock> runtime_dir;  ///< held on its counters file: one instance a directory
};

/// kExists: another instance owns a part of it; nothing of it was touched. kNotFound, kDenied, kInvalid: the
/// setting that the message names cannot be used here.
Result<Place> take_place(const Config& config);

}  // namespace kvtier
