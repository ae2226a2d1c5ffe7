#include "daemon/session/listener.h"

#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "daemon/session/descriptor_room.h"
#include "libkvclient/base/path_error.h"

namespace kvtier {
namespace {

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Status(Code::kInvalid, "socket path \"" + path + "\" must have 1 to " +
                                      std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Under the lock, so a socket found here belongs to nobody that lives.
Status remove_stale_socket(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0)
    return errno == ENOENT ? Status::ok() : path_error("stat(" + path + ")", errno);
  if (!S_ISSOCK(info.st_mode))
    return {Code::kInvalid,
            path + " is there and is not a socket; it was not touched: move it or set another path"};
  if (info.st_uid != ::geteuid() && ::geteuid() != 0)
    return {Code::kDenied,
            path + " is a socket of uid " + std::to_string(info.st_uid) + "; it was not touched"};
  if (::unlink(path.c_str()) != 0) return path_error("unlink(" + path + ")", errno);
  return Status::ok();
}

// Before listen(): until then a connect is refused, so no one slips in under the umask's mode.
Status set_access(const ListenerOptions& options) {
  const char* path = options.path.c_str();
  if (options.group && ::chown(path, static_cast<uid_t>(-1), *options.group) != 0)
    return path_error("chown(" + options.path + ")", errno);
  if (::chmod(path, options.mode) != 0) return path_error("chmod(" + options.path + ")", errno);
  return Status::ok();
}

Result<UniqueFd> bind_and_listen(const ListenerOptions& options, const sockaddr_un& address) {
  UniqueFd socket(::socket(AF_UNIX, options.type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return Status::from_errno("socket", errno);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return path_error("bind(" + options.path + ")", errno);
  KV_RETURN_IF_ERROR(set_access(options));
  if (::listen(socket.get(), options.backlog) != 0) return Status::from_errno("listen", errno);
  return socket;
}

ino_t inode_of(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(const ListenerOptions& options) {
  const Result<sockaddr_un> address = address_of(options.path);
  if (!address.is_ok()) return address.status();
  Result<SocketLock> lock = SocketLock::take(options.path);
  if (!lock.is_ok()) return lock.status();
  KV_RETURN_IF_ERROR(remove_stale_socket(options.path));
  Result<UniqueFd> socket = bind_and_listen(options, address.value());
  if (!socket.is_ok()) return socket.status();
  return std::unique_ptr<Listener>(new Listener(options, std::move(lock).value(), std::move(socket).value()));
}

Listener::Listener(ListenerOptions options, SocketLock lock, UniqueFd socket)
    : options_(std::move(options)),
      lock_(std::move(lock)),
      socket_(std::move(socket)),
      inode_(inode_of(options_.path)) {}

Listener::~Listener() {
  if (is_there()) ::unlink(options_.path.c_str());
}

bool Listener::is_there() const {
  return inode_ != 0 && inode_of(options_.path) == inode_;
}

Status Listener::make_again() {
  if (inode_of(options_.path) != 0)
    return {Code::kExists, "something else is at " + options_.path + " now; it was not touched"};
  const Result<sockaddr_un> address = address_of(options_.path);
  if (!address.is_ok()) return address.status();
  Result<UniqueFd> socket = bind_and_listen(options_, address.value());
  if (!socket.is_ok()) return socket.status();
  socket_ = std::move(socket).value();
  inode_ = inode_of(options_.path);
  return Status::ok();
}

Result<UniqueFd> Listener::accept() {
  while (true) {
    UniqueFd peer(::accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (peer.is_open()) return peer;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Status(Code::kBusy, "nobody waits");
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      return out_of_descriptors();
    return Status::from_errno("accept4", errno);
  }
}

}  // namespace kvtier
