#include "daemon/background/checksum_agent.h"

#include <sched.h>

#include "libkvclient/base/checksum.h"

namespace kvtier {

ChecksumAgent::ChecksumAgent(Waiter& own, Waiter& conductor)
    : jobs_(kInFlight, own), sums_(kInFlight, conductor) {}

std::size_t ChecksumAgent::exchange(Store& store) {
  std::size_t moved = 0;
  Sum sum;
  while (sums_.pop(sum)) {
    store.checksum_done(sum.job, sum.value);
    --in_flight_;
    ++moved;
  }
  // relaxed: a hint; the agent looks again before each block.
  is_urgent_.store(store.unverified_count() > 0, std::memory_order_relaxed);
  while (in_flight_ < kInFlight) {
    std::optional<ChecksumJob> job = store.checksum_next();
    if (!job) break;
    KV_CHECK(jobs_.push(*job), "the mailbox holds as many jobs as may be in flight");
    ++in_flight_;
    ++moved;
  }
  return moved;
}

std::size_t ChecksumAgent::do_work(TimeNs) {
  run_when_idle(!is_urgent_.load(std::memory_order_relaxed));
  ChecksumJob job;
  if (!jobs_.pop(job)) return 0;
  KV_CHECK(sums_.push({job, checksum64(job.bytes)}), "the mailbox holds as many sums as may be in flight");
  return 1;
}

void ChecksumAgent::run_when_idle(bool is_idle) {
  if (is_idle == is_idle_class_) return;
  is_idle_class_ = is_idle;
  const sched_param none{};
  // Refused in some containers: then it runs as everybody does, which costs others some of their time,
  // nothing else.
  (void)::sched_setscheduler(0, is_idle ? SCHED_IDLE : SCHED_OTHER, &none);
}

}  // namespace kvtier
