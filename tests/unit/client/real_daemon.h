#pragma once
// The real store and conductor inside the test process, on one thread: what the fake daemon is measured by.

#include <atomic>
#include <string>
#include <thread>

#include "libkvclient/base/checksum.h"
#include "tests/support/in_process_daemon.h"
#include "tests/support/memory_fd_store.h"

namespace kvtier::test {

class RealDaemon : private InProcessDaemon<SystemClock, MemoryFdStore> {
 public:
  RealDaemon() : InProcessDaemon("default", {.host_bytes = 16 << 20, .sessions_max = 16}) { serve(); }
  ~RealDaemon() { stop(); }
  RealDaemon(const RealDaemon&) = delete;
  RealDaemon& operator=(const RealDaemon&) = delete;

  [[nodiscard]] std::string path() const { return path_; }

  /// Blocks whose checksum was computed: only those survive a restart.
  [[nodiscard]] std::uint64_t sums_count() const { return sums_count_.load(); }

  /// Blocks that clients acquired, by their access logs.
  [[nodiscard]] std::uint64_t hits_count() const { return hits_count_.load(); }

  void start() {
    InProcessDaemon::start();
    serve();
  }
  /// As if it were killed: sockets close, memory and channels stay in the descriptor store.
  void stop() {
    if (!thread_.joinable()) return;
    is_stopping_.store(true);
    conductor_->wake();
    thread_.join();
    drop();
  }

 private:
  void serve() {
    is_stopping_.store(false);
    thread_ = std::thread([this] { run(); });
  }
  void run() {
    while (!is_stopping_.load()) {
      const std::size_t work = conductor_->do_work(clock_.now_ns());
      hits_count_.store(store_->stats().hits_host);
      if (work > 0) continue;
      sum_some();
      const TimeNs now = clock_.now_ns();
      conductor_->wait(now, std::min(conductor_->next_deadline_ns(), now + 20 * kNsPerMs));
    }
  }
  void sum_some() {
    while (const std::optional<ChecksumJob> job = store_->checksum_next()) {
      store_->checksum_done(*job, checksum64(job->bytes));
      sums_count_.fetch_add(1);
    }
  }

  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint64_t> sums_count_{0};
  std::atomic<std::uint64_t> hits_count_{0};
  std::thread thread_;
};

}  // namespace kvtier::test
