// kvbench churn: how long a reserve of 64 blocks takes in a full pool, where every block must be evicted
// first.

#include <algorithm>
#include <memory>

#include "tests/support/pattern_block.h"
#include "tools/kvbench/options.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/statistics.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kBlockBytes = 4096;
constexpr std::size_t kBatch = 64;

// Attached clients that do nothing: their pins must be looked at, their channels watched.
class IdleClients {
 public:
  IdleClients(unsigned count, const std::string& socket) : count_(count) {
    for (unsigned i = 0; i < count; ++i) children_.emplace_back([&] { body(socket); });
  }
  void attach() const {
    go_.post(count_);
    for (unsigned i = 0; i < count_; ++i) attached_.wait();
  }
  void detach() {
    end_.post(count_);
    for (Child& child : children_) child.join();
  }

 private:
  void body(const std::string& socket) const {
    go_.wait();
    const BenchClient client(socket, {kBlockBytes});
    attached_.post();
    wait_long();
  }
  void wait_long() const {
    while (true) {
      try {
        return end_.wait();
      } catch (const Failure&) {  // a minute passed
      }
    }
  }

  const unsigned count_;
  Event go_, attached_, end_;
  std::vector<Child> children_;
};

class Churn {
 public:
  Churn(const ChurnOptions& options, const Common& common)
      : options_(options),
        common_(common),
        daemon_({common.socket, pool_bytes(options.resident, kBlockBytes)}),
        idle_(options.clients, daemon_.socket()),
        client_(daemon_.socket(), {kBlockBytes}),
        slots_(kBatch) {}

  Report run() {
    for (std::uint64_t done = 0; done < options_.resident; done += kBatch) client_.put(next_keys());
    idle_.attach();
    const DaemonCounters counters = daemon_.counters();
    const std::uint64_t evicted = counters.value("evictions");
    warm();
    const unsigned rounds = common_.is_quick ? 50 : options_.rounds;
    for (unsigned i = 0; i < common_.repeats; ++i) {
      measure_reference(rounds);
      measure(rounds);
    }
    Report result = report();
    result.add("evictions", counters.value("evictions") - evicted);
    idle_.detach();
    return result;
  }

 private:
  std::vector<Key> next_keys() { return chain_keys(++chain_, 1, kBatch); }

  void warm() {
    for (int i = 0; i < 100; ++i) reserve_timed();
  }

  void measure(unsigned rounds) {
    std::vector<double> samples;
    for (unsigned i = 0; i < rounds; ++i) samples.push_back(reserve_timed());
    p50_.push_back(percentile(samples, 0.5));
    p99_.push_back(percentile(samples, 0.99));
    all_.insert(all_.end(), samples.begin(), samples.end());
  }

  // Microseconds of the reserve alone; then the blocks are written and committed, so that the pool is full.
  double reserve_timed() {
    const std::vector<Key> keys = next_keys();
    const TimeNs start = now_ns();
    const int code = kvc_reserve(client_.space(), as_c(keys.data()), kBatch, nullptr, slots_.data());
    const TimeNs end = now_ns();
    need_ok(code, "kvc_reserve");
    for (std::size_t i = 0; i < kBatch; ++i) {
      refused_ += slots_[i].code == KVC_OK ? 0 : 1;
      if (slots_[i].code == KVC_OK)
        test::fill_pattern(keys[i], {static_cast<std::byte*>(slots_[i].data), kBlockBytes});
    }
    need_ok(kvc_commit(client_.space(), slots_.data(), kBatch, KVC_WAIT, 0), "kvc_commit");
    if (++rounds_ % 64 == 0) wrong_ += client_.check(keys);
    return static_cast<double>(end - start) / 1000;
  }

  void measure_reference(unsigned rounds) {
    std::vector<double> samples;
    for (unsigned i = 0; i < rounds; ++i) {
      const TimeNs start = now_ns();
      need_ok(kvc_ping(client_.client(), 0), "kvc_ping");
      samples.push_back(static_cast<double>(now_ns() - start) / 1000);
    }
    ping_p50_.push_back(percentile(samples, 0.5));
    ping_p99_.push_back(percentile(samples, 0.99));
  }

  Report report() {
    Report report("churn");
    report.count_errors(wrong_);
    report.add("resident", options_.resident);
    report.add("clients", std::uint64_t{options_.clients});
    report.add("blocks_a_reserve", std::uint64_t{kBatch});
    report.add("p99_us", median(p99_));
    report.add("p50_us", median(p50_));
    report.add("max_us", percentile(all_, 1.0));
    report.add("reference", std::string_view("a round trip that does nothing, kvc_ping"));
    report.add("reference_p99_us", median(ping_p99_));
    report.add("reference_p50_us", median(ping_p50_));
    report.add("refused", refused_);
    return report;
  }

  const ChurnOptions options_;
  const Common& common_;
  DaemonProcess daemon_;
  IdleClients idle_;  // forks: before the client
  BenchClient client_;
  std::vector<kvc_slot> slots_;
  std::uint64_t chain_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t wrong_ = 0;
  std::vector<double> p50_, p99_, ping_p50_, ping_p99_, all_;
};

}  // namespace

Report run_churn(const ChurnOptions& options, const Common& common) {
  return Churn(options, common).run();
}

}  // namespace kvtier::bench
