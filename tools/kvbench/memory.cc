// kvbench memory: what is used, all processes together, against the payload and the overhead that the daemon
// states. Used: every page of shared memory, mapped or not, and the private pages of the daemon and of what
// the library adds to its clients.

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"

namespace kvtier::bench {
namespace {

constexpr std::size_t kBatch = 256;

class Memory {
 public:
  Memory(const MemoryOptions& options, const Common& common)
      : options_(options),
        blocks_(options.bytes / options.block_bytes),
        daemon_({common.socket, options.bytes}) {
    for (unsigned i = 0; i < options.clients; ++i) children_.emplace_back([this, i] { client_body(i); });
  }

  Report run() {
    // One after the other: the first fills the pool, all of them read every block of it.
    for (unsigned i = 0; i < options_.clients; ++i) {
      go_.post();
      done_.wait();
    }
    Report result = report();
    end_.post(options_.clients);
    for (Child& child : children_) child.join();
    result.count_errors(wrong_->load());
    return result;
  }

 private:
  void client_body(unsigned number) {
    go_.wait();
    before_->fetch_add(process_memory(::getpid()).pss_private_bytes);
    BenchClient client(daemon_.socket(), {options_.block_bytes});
    if (!has_filled_->exchange(true)) fill(client);
    read_all(client, number);
    done_.post();
    end_.wait();
  }

  void fill(BenchClient& client) const {
    for (std::uint64_t chain = 0; chain < blocks_ / kBatch; ++chain) client.put(chain_keys(chain, 1, kBatch));
  }

  void read_all(BenchClient& client, unsigned number) {
    for (std::uint64_t chain = 0; chain < blocks_ / kBatch; ++chain) {
      std::size_t held = 0;
      wrong_->fetch_add(client.check(chain_keys(chain, 1, kBatch), &held));
      if (number == 0) held_->fetch_add(held);
    }
  }

  Report report() {
    const ProcessMemory daemon = process_memory(daemon_.pid());
    ProcessMemory all = daemon;
    for (const Child& child : children_) {
      const ProcessMemory each = process_memory(child.pid());
      all.pss_bytes += each.pss_bytes;
      all.pss_private_bytes += each.pss_private_bytes;
    }
    const DaemonCounters counters = daemon_.counters();
    const std::uint64_t payload = counters.value("host_bytes");
    const std::uint64_t metadata = counters.value("metadata_bytes");
    const std::uint64_t policy = counters.value("policy_bytes");
    const std::uint64_t channels = counters.value("channel_bytes");
    const std::uint64_t shared = memfd_bytes(daemon_.pid());
    const std::uint64_t added = all.pss_private_bytes - std::min(all.pss_private_bytes, before_->load());
    const auto stated = static_cast<double>(payload + metadata + policy + channels);
    Report report("memory");
    report.add("blocks_resident", counters.value("blocks_ready"));
    report.add("blocks_read_back", held_->load());
    report.add("clients", std::uint64_t{options_.clients});
    report.add("payload_bytes", payload);
    report.add("metadata_bytes", metadata);
    report.add("policy_bytes", policy);
    report.add("channel_bytes", channels);
    report.add("ratio", static_cast<double>(shared + added) / stated);
    report.add("pss_ratio", static_cast<double>(all.pss_bytes) / stated);
    report.add("overhead_bytes_per_block", counters.value("index_bytes_per_block"));
    report.add("channel_bytes_per_client", channels / std::max(1U, options_.clients));
    report.add("pss_bytes", all.pss_bytes);
    report.add("pss_daemon_bytes", daemon.pss_bytes);
    report.add("private_bytes_added", added);
    report.add("private_bytes_daemon", daemon.pss_private_bytes);
    report.add("memfd_bytes", shared);
    return report;
  }

  const MemoryOptions options_;
  const std::uint64_t blocks_;
  DaemonProcess daemon_;
  Event go_, done_, end_;
  Shared<std::atomic<bool>> has_filled_;
  Shared<std::atomic<std::uint64_t>> before_;  ///< private memory of the clients before they were clients
  Shared<std::atomic<std::uint64_t>> wrong_;
  Shared<std::atomic<std::uint64_t>> held_;
  std::vector<Child> children_;
};

}  // namespace

Report run_memory(const MemoryOptions& options, const Common& common) {
  return Memory(options, common).run();
}

}  // namespace kvtier::bench
