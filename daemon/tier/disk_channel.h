#pragma once
// What lies between conductor and agent of the NVMe tier: mailboxes and two flags; and the conductor's end of them.
//
// Why they cannot wait for each other. The agent takes what is forgotten whatever it has to tell, as no answer is due: so
// that mailbox always empties. The conductor takes news whatever it has to send, but while it has many forgets to hand
// over, which therefore ends; an answer to a question has a place of its own (DiskOutbox). So news is always taken in the
// end, then the agent has room for answers, and takes commands.

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
      : commands(kDiskCommandsMax, agent), forgets(kDiskForgetsMax, agent), news(kDiskNewsMax, conductor) {}

  Mailbox<DiskCommand> commands;
  Mailbox<DiskLocator> forgets;  ///< of kForget: in no order with the commands, so held up by none
  Mailbox<DiskNews> news;
  /// Stored by the agent, read by the conductor. relaxed: a hint; a put that comes too late is answered all the same.
  std::atomic<bool> takes_puts{false};
  /// As takes_puts, relaxed for the same reason.
  std::atomic<bool> wants_evidence{false};
};

class MailboxDiskPort final : public DiskPort {
 public:
  explicit MailboxDiskPort(DiskChannel& channel) : channel_(channel) {}

  [[nodiscard]] bool send(const DiskCommand& command) override {
    if (command.kind == DiskCommandKind::kForget) return channel_.forgets.push(command.locator);
    return channel_.commands.push(command);
  }
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
