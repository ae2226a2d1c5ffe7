#pragma once
// A listening Unix socket at a path that this process owns (socket_lock.h). A stale socket file is replaced;
// any other file at the path is left alone and refused. Mode and group are set before anybody can connect.

#include <sys/socket.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "daemon/session/socket_lock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

struct ListenerOptions {
  std::string path;
  int type = SOCK_SEQPACKET;
  mode_t mode = 0660;
  std::optional<gid_t> group;
  int backlog = 256;
};

class Listener {
 public:
  /// kExists: another process owns the path. kInvalid, kDenied: something else is there.
  static Result<std::unique_ptr<Listener>> open(const ListenerOptions& options);
  /// Removes the socket file if it is still this one.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Non-blocking, close-on-exec. kBusy: nobody waits; kNoSpace: out of descriptors, try again later.
  Result<UniqueFd> accept();
  /// Whether the socket file is still this one. A system call.
  [[nodiscard]] bool is_there() const;
  /// A new socket where the file was deleted: fd() changes, and who waited on the old one is hung up on. kExists:
  /// something else is there now, and is left alone.
  Status make_again();
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& path() const { return options_.path; }

 private:
  Listener(ListenerOptions options, SocketLock lock, UniqueFd socket);

  const ListenerOptions options_;
  const SocketLock lock_;
  UniqueFd socket_;
  ino_t inode_ = 0;
};

}  // namespace kvtier
