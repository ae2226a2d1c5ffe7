#pragma once
// One pidfd a session, watched until the process is gone. Independent of the socket: a session that hung up
// is watched on, and so is one that was adopted and has not come back.

#include <cstdint>
#include <vector>

#include "daemon/model/ids.h"
#include "daemon/session/poller.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

class Liveness {
 public:
  explicit Liveness(Poller& poller) : poller_(&poller) {}

  /// Replaces an earlier watch of the same session.
  Status watch(SessionIndex session, UniqueFd pidfd);
  /// The exited session an event speaks of, or kNone when the event is stale. Ends the watch.
  SessionIndex take_exit(const PollToken& token);
  /// Ends the watch of a session that gave everything back by itself.
  void forget(SessionIndex session);
  /// The pidfd watched for a session; -1: none.
  [[nodiscard]] int pidfd_of(SessionIndex session) const;
  [[nodiscard]] std::size_t watched_count() const { return watched_count_; }

 private:
  struct Watch {
    UniqueFd pidfd;
    std::uint32_t generation = 0;
  };
  void stop(Watch& watch);

  Poller* poller_;
  std::vector<Watch> watches_;  // indexed by SessionIndex
  std::size_t watched_count_ = 0;
};

}  // namespace kvtier
