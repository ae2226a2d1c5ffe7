#include "daemon/background/checksum_agent.h"

#include <unistd.h>

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
  if (!is_urgent_.load(std::memory_order_relaxed)) step_back();
  ChecksumJob job;
  if (!jobs_.pop(job)) return 0;
  KV_CHECK(sums_.push({job, checksum64(job.bytes)}), "the mailbox holds as many sums as may be in flight");
  return 1;
}

void ChecksumAgent::step_back() {
  if (has_stepped_back_) return;
  has_stepped_back_ = true;
  // Of this thread alone, as Linux has it. Refused, it runs as everybody does, which costs others time and nothing else.
  (void)::nice(kNice);
}

}  // namespace kvtier
