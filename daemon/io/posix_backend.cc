#include "daemon/io/posix_backend.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "daemon/agent/agent_runner.h"
#include "daemon/agent/eventfd_waiter.h"
#include "daemon/io/posix_worker.h"

namespace kvtier {
namespace {

/// An idle worker has nothing to look after; the default would wake each of them twice a second.
constexpr TimeNs kBeatNs = 3600 * kNsPerSecond;

// Each worker has one command at a time: what waits, waits in the ring, and goes to whoever is free first.
class PosixBackend final : public IoBackend {
 public:
  PosixBackend(std::unique_ptr<EventfdWaiter> waiter, const PosixOptions& options)
      : waiter_(std::move(waiter)),
        done_(std::bit_ceil(options.threads + 1), *waiter_),
        files_(options.files_max, -1),
        reason_(options.reason) {
    idle_.reserve(options.threads);
  }
  Status start_thread();
  void set_depth_reason(std::string reason) { depth_reason_ = std::move(reason); }

  Status set_file(IoFile file, int fd) override {
    const auto at = static_cast<std::size_t>(file);
    if (at >= files_.size()) return {Code::kInvalid, "no such place in the table of files"};
    files_[at] = fd;
    return Status::ok();
  }
  Status set_region(IoRegion, std::span<std::byte>) override { return Status::ok(); }
  bool start(const IoOperation& operation) override;
  void flush(TimeNs) override {}
  std::size_t reap(TimeNs now_ns, std::span<IoCompletion> completions) override;
  void cancel(std::uint32_t) override {}  // a system call is not taken back

  [[nodiscard]] int completion_fd() const override { return waiter_->fd(); }
  [[nodiscard]] std::uint32_t depth() const override { return static_cast<std::uint32_t>(threads_.size()); }
  [[nodiscard]] IoFacts facts() const override {
    return {.engine = {"posix", reason_},
            .depth = {depth(), depth_reason_},
            .registered_files = {false, "engine is posix"},
            .registered_bytes = {0, "engine is posix"},
            .polled = {false, "engine is posix"}};
  }

 private:
  struct Thread {  // NOLINT(clang-analyzer-optin.performance.Padding): destroyed from the last to the first
    Thread(std::uint32_t index, std::unique_ptr<EventfdWaiter> own, Mailbox<PosixDone>& done)
        : waiter(std::move(own)),
          worker(index, *waiter, done),
          runner(worker, *waiter, clock, {.beat_ns = kBeatNs}) {}
    SystemClock clock;
    std::unique_ptr<EventfdWaiter> waiter;
    PosixWorker worker;
    AgentRunner runner;  ///< last: joins before the others go
  };

  std::unique_ptr<EventfdWaiter> waiter_;  ///< the owner's, woken by each completion
  Mailbox<PosixDone> done_;
  std::vector<int> files_;
  const std::string reason_;
  std::string depth_reason_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::uint32_t> idle_;
};

Status PosixBackend::start_thread() {
  Result<std::unique_ptr<EventfdWaiter>> waiter = EventfdWaiter::create();
  if (!waiter.is_ok()) return waiter.status();
  const auto index = static_cast<std::uint32_t>(threads_.size());
  auto thread = std::make_unique<Thread>(index, std::move(waiter).value(), done_);
  KV_RETURN_IF_ERROR(thread->runner.start());
  threads_.push_back(std::move(thread));
  idle_.push_back(index);
  return Status::ok();
}

bool PosixBackend::start(const IoOperation& operation) {
  if (idle_.empty()) return false;
  Thread& thread = *threads_[idle_.back()];
  idle_.pop_back();
  const PosixCommand command{operation, files_[static_cast<std::size_t>(operation.file)]};
  KV_CHECK(thread.worker.commands().push(command), "an idle worker has room for a command");
  return true;
}

std::size_t PosixBackend::reap(TimeNs now_ns, std::span<IoCompletion> completions) {
  // Taken first: a completion that comes after the last pop wakes anew. Taken although every worker is idle: the wake
  // of a completion may come after it was popped, and the owner would not sleep again until the next one.
  waiter_->wait(now_ns, now_ns);
  if (idle_.size() == threads_.size()) return 0;
  std::size_t count = 0;
  for (PosixDone done; count < completions.size() && done_.pop(done); ++count) {
    completions[count] = done.completion;
    idle_.push_back(done.worker);
  }
  return count;
}

}  // namespace

Result<std::unique_ptr<IoBackend>> open_posix(const PosixOptions& options) {
  Result<std::unique_ptr<EventfdWaiter>> waiter = EventfdWaiter::create();
  if (!waiter.is_ok()) return waiter.status();
  PosixOptions bounded = options;
  bounded.threads = std::clamp(options.threads, 1U, kPosixThreadsMax);
  auto backend = std::make_unique<PosixBackend>(std::move(waiter).value(), bounded);
  for (std::uint32_t i = 0; i < bounded.threads; ++i) {
    const Status status = backend->start_thread();
    if (status.is_ok()) continue;
    if (i == 0) return status.while_doing("starting engine posix");
    backend->set_depth_reason(std::to_string(bounded.threads) +
                              " threads were wished for: " + status.message());
    break;
  }
  return std::unique_ptr<IoBackend>(std::move(backend));
}

}  // namespace kvtier
