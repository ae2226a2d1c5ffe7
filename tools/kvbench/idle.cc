// kvbench idle: what a daemon without work costs.

#include <chrono>
#include <memory>
#include <thread>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kBlockBytes = 64 << 10;
constexpr std::uint64_t kHostBytes = 64 << 20;

struct Cost {
  double cpu_percent = 0;
  double wakeups_per_s = 0;
};

Cost cost_between(const ProcessActivity& before, const ProcessActivity& after, double seconds) {
  return {static_cast<double>(after.cpu_ns - before.cpu_ns) / 1e9 / seconds * 100,
          static_cast<double>(after.wakeups - before.wakeups) / seconds};
}

class Idle {
 public:
  Idle(const IdleOptions& options, const Common& common)
      : options_(options), common_(common), daemon_({common.socket, kHostBytes}) {
    for (unsigned i = 0; i < options.clients; ++i) children_.emplace_back([this] { client_body(); });
  }

  Report run() {
    go_.post(options_.clients);
    for (unsigned i = 0; i < options_.clients; ++i) attached_.wait();
    std::this_thread::sleep_for(std::chrono::seconds(1));  // what the attaching set off
    const ProcessActivity daemon = process_activity(daemon_.pid());
    const ProcessActivity clients = clients_activity();
    const TimeNs start = now_ns();
    std::this_thread::sleep_for(std::chrono::seconds(common_.is_quick ? 1 : options_.seconds));
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    const Cost of_daemon = cost_between(daemon, process_activity(daemon_.pid()), seconds);
    const Cost of_clients = cost_between(clients, clients_activity(), seconds);
    end_.post(options_.clients);
    for (Child& child : children_) child.join();
    return report(of_daemon, of_clients, seconds);
  }

 private:
  void client_body() const {
    go_.wait();
    BenchClient client(daemon_.socket(), {kBlockBytes});
    const std::vector<Key> keys{Key{{1, 2, 3, static_cast<std::uint64_t>(::getpid())}}};
    client.put(keys);
    attached_.post();
    end_.wait();
  }

  [[nodiscard]] ProcessActivity clients_activity() const {
    ProcessActivity sum;
    for (const Child& child : children_) {
      const ProcessActivity each = process_activity(child.pid());
      sum.cpu_ns += each.cpu_ns;
      sum.wakeups += each.wakeups;
    }
    return sum;
  }

  [[nodiscard]] Report report(const Cost& daemon, const Cost& clients, double seconds) const {
    Report report("idle");
    report.add("clients", std::uint64_t{options_.clients});
    report.add("seconds", seconds);
    report.add("cpu_percent", daemon.cpu_percent);
    report.add("wakeups_per_s", daemon.wakeups_per_s);
    report.add("clients_cpu_percent", clients.cpu_percent);
    report.add("clients_wakeups_per_s", clients.wakeups_per_s);
    return report;
  }

  const IdleOptions options_;
  const Common& common_;
  DaemonProcess daemon_;
  Event go_, attached_, end_;
  std::vector<Child> children_;
};

}  // namespace

Report run_idle(const IdleOptions& options, const Common& common) {
  return Idle(options, common).run();
}

}  // namespace kvtier::bench
