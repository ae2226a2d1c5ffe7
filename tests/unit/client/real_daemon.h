#pragma once
// The real store and conductor inside the test process, on one thread: what the fake daemon is measured by.

#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "daemon/flow/stats.h"
#include "daemon/flow/store.h"
#include "daemon/session/conductor.h"
#include "libkvclient/base/checksum.h"
#include "tests/support/memory_fd_store.h"
#include "tests/unit/session/scratch_dir.h"

namespace kvtier::test {

class RealDaemon {
 public:
  RealDaemon() { start(); }
  ~RealDaemon() { stop(); }
  RealDaemon(const RealDaemon&) = delete;
  RealDaemon& operator=(const RealDaemon&) = delete;

  [[nodiscard]] std::string path() const { return dir_.file("d.sock"); }

  /// Blocks whose checksum was computed: only those survive a restart.
  [[nodiscard]] std::uint64_t sums_count() const { return sums_count_.load(); }

  /// Blocks that clients acquired, by their access logs.
  [[nodiscard]] std::uint64_t hits_count() const { return hits_count_.load(); }

  void start() {
    StoreOptions options;
    options.host_bytes = 16 << 20;
    options.sessions_max = 16;
    store_ = Store::create(options, clock_, fds_).value();
    NamespaceConfig config;
    config.name = "default";
    std::unique_ptr<Listener> listener = Listener::open({.path = path()}).value();
    conductor_ =
        Conductor::create({.clients_max = 16, .namespaces = {config}}, *store_, log_, std::move(listener))
            .value();
    is_stopping_.store(false);
    thread_ = std::thread([this] { run(); });
  }
  /// As if it were killed: sockets close, memory and channels stay in the descriptor store.
  void stop() {
    if (!thread_.joinable()) return;
    is_stopping_.store(true);
    conductor_->wake();
    thread_.join();
    conductor_.reset();
    store_.reset();
  }

 private:
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

  ScratchDir dir_;
  SystemClock clock_;
  MemoryFdStore fds_;
  std::ostringstream log_text_;
  Log log_{LogOptions{.stream = &log_text_}};
  std::unique_ptr<Store> store_;
  std::unique_ptr<Conductor> conductor_;
  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint64_t> sums_count_{0};
  std::atomic<std::uint64_t> hits_count_{0};
  std::thread thread_;
};

}  // namespace kvtier::test
