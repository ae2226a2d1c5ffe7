#pragma once
// One thread's worth of pread, pwrite and fdatasync.

#include <string>

#include "daemon/agent/mailbox.h"
#include "daemon/io/io_backend.h"

namespace kvtier {

struct PosixCommand {
  IoOperation operation;
  int fd = -1;
};

struct PosixDone {
  IoCompletion completion;
  std::uint32_t worker = 0;
};

/// Executes one command after the other; a stalled call stalls this worker only.
class PosixWorker final : public Agent {
 public:
  /// `waiter`: where this worker sleeps. Both are borrowed and outlive it.
  PosixWorker(std::uint32_t index, Waiter& waiter, Mailbox<PosixDone>& done);

  [[nodiscard]] std::string_view name() const override { return name_; }
  std::size_t do_work(TimeNs now_ns) override;

  [[nodiscard]] Mailbox<PosixCommand>& commands() { return commands_; }

 private:
  const std::uint32_t index_;
  const std::string name_;
  Mailbox<PosixCommand> commands_;
  Mailbox<PosixDone>& done_;
};

/// Bytes or -errno of one system call.
std::int32_t posix_execute(const PosixCommand& command);

}  // namespace kvtier
