#pragma once
// What lies between conductor and agent of the NVMe tier: two mailboxes and two flags; and the conductor's end of them.

#include <atomic>

#include "daemon/agent/mailbox.h"
#include "daemon/tier/disk_port.h"

namespace kvtier {

/// A waiter that is there before the one that it wakes: the conductor is made after the tiers.
class LateWaiter final : public Waiter {
 public:
  /// Before the threads run. `target` outlives the channel's use.
  void set(Waiter& target) { target_ = &target; }
  void wait(TimeNs, TimeNs) override {}
  void wake() override {
    if (target_ != nullptr) target_->wake();
  }

 private:
  Waiter* target_ = nullptr;
};

class DiskChannel {
 public:
  /// Both waiters outlive it.
  DiskChannel(Waiter& agent, Waiter& conductor)
      : commands(kDiskCommandsMax, agent), news(kDiskNewsMax, conductor) {}

  Mailbox<DiskCommand> commands;
  Mailbox<DiskNews> news;
  /// Stored by the agent, read by the conductor. relaxed: a hint; a put that comes too late is answered all the same.
  std::atomic<bool> takes_puts{false};
  /// As takes_puts, relaxed for the same reason.
  std::atomic<bool> wants_evidence{false};
};

class MailboxDiskPort final : public DiskPort {
 public:
  explicit MailboxDiskPort(DiskChannel& channel) : channel_(channel) {}

  [[nodiscard]] bool send(const DiskCommand& command) override { return channel_.commands.push(command); }
  [[nodiscard]] bool receive(DiskNews& news) override { return channel_.news.pop(news); }
  [[nodiscard]] bool takes_puts() const override {
    return channel_.takes_puts.load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool wants_evidence() const override {
    return channel_.wants_evidence.load(std::memory_order_relaxed);
  }

 private:
  DiskChannel& channel_;
};

}  // namespace kvtier
