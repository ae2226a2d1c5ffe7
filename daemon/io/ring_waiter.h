#pragma once
// Where the agent of a ring sleeps: until it is woken, a completion is there, or time is up.

#include "daemon/agent/eventfd_waiter.h"
#include "daemon/io/io_ring.h"

namespace kvtier {

class RingWaiter final : public Waiter {
 public:
  /// The ring is borrowed and outlives it. kSystem when there are no descriptors left.
  static Result<std::unique_ptr<RingWaiter>> create(const IoRing& ring);
  RingWaiter(const IoRing& ring, std::unique_ptr<EventfdWaiter> own) : ring_(ring), own_(std::move(own)) {}

  /// Does not sleep while the ring has something to go on with; no longer than to its next deadline.
  void wait(TimeNs now_ns, TimeNs until_ns) override;
  void wake() override { own_->wake(); }

 private:
  const IoRing& ring_;
  const std::unique_ptr<EventfdWaiter> own_;
};

}  // namespace kvtier
