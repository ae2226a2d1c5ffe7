#pragma once
// Who is at the other end of a Unix socket, as the kernel says; nothing here is the peer's own word.

#include <cstdint>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

struct Peer {
  std::uint32_t pid = 0;  ///< in our PID namespace; 0: the peer is not visible from it
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups;  ///< supplementary

  [[nodiscard]] bool is_in_group(std::uint32_t group) const;
};

/// Of the process that called connect(), at that moment.
Result<Peer> read_peer(int socket);

/// A pidfd of the peer, from the first source that works: SO_PEERPIDFD; `offered` (the peer's own, checked
/// against its credentials); pidfd_open, checked by the socket being open afterwards. kUnsupported: none did.
Result<UniqueFd> find_peer_pidfd(int socket, const Peer& peer, UniqueFd offered);

/// True where find_peer_pidfd never needs an offered descriptor (Linux 6.5): then none is taken from the
/// peer.
bool has_peer_pidfd();

/// The pid behind a pidfd, by fdinfo. 0: not visible from our PID namespace. kInvalid: not a pidfd, or
/// exited.
Result<std::uint32_t> pid_of_pidfd(int pidfd);

/// Whether two pidfds are of one living process. By inode where the kernel gives pidfds one of their own
/// (Linux 6.9), and by pid.
bool are_same_process(int pidfd, int other_pidfd);

}  // namespace kvtier
