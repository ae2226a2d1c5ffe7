#include "daemon/session/ring_server.h"

#include "daemon/session/submissions.h"

namespace kvtier {

// Backwards over positions would skip on removal, so a turn works on a copy of the order: places are stable.
std::size_t RingServer::run() {
  order_ = sessions_.table().sessions();
  if (order_.empty()) return 0;
  first_ = (first_ + 1) % order_.size();
  std::size_t served = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) served += serve(order_[(first_ + i) % order_.size()]);
  sessions_.stats().submissions += served;
  return served;
}

std::size_t RingServer::serve(std::uint32_t index) {
  Connection& connection = sessions_.table().at(index);
  if (!connection.rings) return 0;  // ended earlier in this turn
  std::size_t count = 0;
  if (take_submissions(connection, sessions_.store(), count)) return count;
  sessions_.end(index, {Code::kInvalid, "the submission ring's tail is further ahead than the ring is long"});
  return count;
}

bool RingServer::prepare_sleep() {
  bool has_work = false;
  for (const std::uint32_t index : sessions_.table().sessions())
    sessions_.table().at(index).rings->announce_sleep();
  for (const std::uint32_t index : sessions_.table().sessions())
    has_work |= sessions_.table().at(index).rings->has_work();
  return has_work;
}

void RingServer::finish_sleep() {
  for (const std::uint32_t index : sessions_.table().sessions())
    sessions_.table().at(index).rings->retract_sleep();
}

}  // namespace kvtier
