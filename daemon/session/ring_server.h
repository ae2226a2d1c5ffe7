#pragma once
// Serves the clients' submission rings in turn, a bounded number each: all that a busy client delays others
// by.

#include <cstdint>
#include <vector>

#include "daemon/session/sessions.h"

namespace kvtier {

class RingServer {
 public:
  explicit RingServer(Sessions& sessions) : sessions_(sessions) {}

  /// One turn over all sessions. Returns submissions handed over.
  std::size_t run();

  /// Before blocking: announces the sleep to every client, then says whether any had published before it.
  bool prepare_sleep();
  void finish_sleep();

 private:
  std::size_t serve(std::uint32_t index);

  Sessions& sessions_;
  std::size_t first_ = 0;             ///< position of the turn's first session: rotates
  std::vector<std::uint32_t> order_;  ///< of this turn
};

}  // namespace kvtier
