#pragma once
// Ownership of a socket path: an exclusive flock on PATH.lock, held as long as the process lives and dropped
// by the kernel when it dies. Never decided by connect(): a busy or stopped owner does not answer either.

#include <string>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

class SocketLock {
 public:
  /// kExists: "already running (pid N)".
  /// The lock file stays behind for ever, also that of a start that was refused afterwards: who opened it before it
  /// is removed and locks it after owns a file that has no name, while the next one makes and locks a new file, and
  /// both serve. It is empty but for a pid; its name, not its being there, is what counts.
  static Result<SocketLock> take(const std::string& socket_path);

 private:
  explicit SocketLock(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace kvtier
