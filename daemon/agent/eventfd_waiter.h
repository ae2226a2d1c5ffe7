#pragma once
// Sleeps on an eventfd. Wakes that come while one is pending cost one atomic exchange and no system call.

#include <atomic>
#include <memory>

#include "daemon/agent/agent.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

class EventfdWaiter final : public Waiter {
 public:
  /// kSystem when there are no descriptors left.
  static Result<std::unique_ptr<EventfdWaiter>> create();
  explicit EventfdWaiter(UniqueFd fd) : fd_(std::move(fd)) {}

  void wait(TimeNs now_ns, TimeNs until_ns) override;
  void wake() override;

  /// Readable while a wake is pending, for an epoll set of the caller; then wait(now, now) takes the wake.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  void take_wake();

  const UniqueFd fd_;
  std::atomic<bool> is_pending_{false};
};

}  // namespace kvtier
