#include "daemon/session/peer.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "daemon/session/descriptor_room.h"
#include "libkvclient/base/fault_point.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace kvtier {
namespace {

std::vector<std::uint32_t> read_groups(int socket) {
  std::vector<std::uint32_t> groups(64);
  auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) {
    if (errno != ERANGE) return {};
    groups.resize(bytes / sizeof(gid_t));  // the kernel says how many there are
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) return {};
  }
  groups.resize(bytes / sizeof(gid_t));
  return groups;
}

Result<UniqueFd> kernel_pidfd(int socket) {
  if (KV_FAULT("session.peer_pidfd") == Fault::kFail) return Status::from_errno("fault point", ENOPROTOOPT);
  int fd = -1;
  socklen_t bytes = sizeof fd;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes) == 0) return UniqueFd(fd);
  if (errno == EMFILE || errno == ENFILE) return out_of_descriptors();
  return Status::from_errno("getsockopt(SO_PEERPIDFD)", errno);
}

// The process may have died and its pid gone to another between connect and now; its socket would then be
// closed, so an open socket afterwards proves that the pid was still the peer's.
Result<UniqueFd> opened_pidfd(int socket, const Peer& peer) {
  if (peer.pid == 0) return Status(Code::kUnsupported, "the peer is in another PID namespace");
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(peer.pid), 0)));
  if (!fd.is_open()) return Status::from_errno("pidfd_open", errno);
  char byte = 0;
  const ssize_t received = ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  const bool is_open = received > 0 || (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
  if (!is_open) return Status(Code::kUnavailable, "the peer is gone");
  return fd;
}

Status check_offered(int offered, const Peer& peer) {
  const Result<std::uint32_t> pid = pid_of_pidfd(offered);
  if (!pid.is_ok()) return pid.status();
  if (pid.value() == peer.pid) return Status::ok();
  return {Code::kDenied, "the pidfd sent is of pid " + std::to_string(pid.value()) + ", the peer is pid " +
                             std::to_string(peer.pid)};
}

}  // namespace

bool Peer::is_in_group(std::uint32_t group) const {
  return gid == group || std::ranges::find(groups, group) != groups.end();
}

Result<Peer> read_peer(int socket) {
  ucred credentials{};
  socklen_t bytes = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &bytes) != 0)
    return Status::from_errno("getsockopt(SO_PEERCRED)", errno);
  return Peer{static_cast<std::uint32_t>(credentials.pid), credentials.uid, credentials.gid,
              read_groups(socket)};
}

Result<UniqueFd> find_peer_pidfd(int socket, const Peer& peer, UniqueFd offered) {
  Result<UniqueFd> from_kernel = kernel_pidfd(socket);
  if (from_kernel.is_ok() || from_kernel.code() == Code::kNoSpace) return from_kernel;
  if (offered.is_open()) {
    KV_RETURN_IF_ERROR(check_offered(offered.get(), peer));
    return offered;
  }
  Result<UniqueFd> opened = opened_pidfd(socket, peer);
  if (opened.is_ok()) return opened;
  return Status(Code::kUnsupported,
                "no pidfd for this client (" + opened.status().message() +
                    "); Linux 6.5, a shared PID namespace, or a client that sends its own pidfd is needed");
}

bool has_peer_pidfd() {
  if (KV_FAULT("session.peer_pidfd") == Fault::kFail) return false;
  std::array<int, 2> pair{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return false;
  const UniqueFd one(pair[0]);
  const UniqueFd two(pair[1]);
  return kernel_pidfd(pair[0]).is_ok();
}

Result<std::uint32_t> pid_of_pidfd(int pidfd) {
  const std::string path = "/proc/self/fdinfo/" + std::to_string(pidfd);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return Status::from_errno("open(" + path + ")", errno);
  std::array<char, 1024> text{};
  const ssize_t length = ::read(file.get(), text.data(), text.size() - 1);
  if (length <= 0) return Status::from_errno("read(" + path + ")", errno);
  const std::string_view info(text.data(), static_cast<std::size_t>(length));
  const std::size_t at = info.find("\nPid:\t");
  if (at == std::string_view::npos) return Status(Code::kInvalid, "the descriptor sent is not a pidfd");
  const long pid = std::strtol(text.data() + at + 6, nullptr, 10);
  if (pid < 0) return Status(Code::kInvalid, "the process of the pidfd sent has exited");
  return static_cast<std::uint32_t>(pid);
}

bool are_same_process(int pidfd, int other_pidfd) {
  struct stat one {};
  struct stat other {};
  if (::fstat(pidfd, &one) != 0 || ::fstat(other_pidfd, &other) != 0 || one.st_ino != other.st_ino)
    return false;
  const Result<std::uint32_t> pid = pid_of_pidfd(pidfd);
  const Result<std::uint32_t> other_pid = pid_of_pidfd(other_pidfd);
  return pid.is_ok() && other_pid.is_ok() && pid.value() == other_pid.value();
}

}  // namespace kvtier
