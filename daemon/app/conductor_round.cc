#include "daemon/app/conductor_round.h"

namespace kvtier {

std::size_t ConductorRound::do_work(TimeNs now_ns) {
  std::size_t work = conductor_.do_work(now_ns);
  work += checksums_.exchange(store_);
  // Also when nothing happened: a round is asked for at least twice a second, so that nobody reads old
  // numbers.
  if (work == 0 || now_ns >= publish_at_ns_) {
    publish_counters(store_, conductor_, counters_);
    publish_at_ns_ = now_ns + kPublishNs;
  }
  return work;
}

}  // namespace kvtier
