// kvbench lookup: match, acquire and release of many keys among resident blocks, while another process
// commits.

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "libkvclient/base/prng.h"
#include "tests/support/pattern_block.h"
#include "tools/kvbench/lookup.h"
#include "tools/kvbench/options.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/run_program.h"
#include "tools/kvbench/support/statistics.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {
namespace {

constexpr unsigned kCheckEvery = 64;  // rounds; the checked ones are not timed

enum class Choice : std::uint8_t { kChain, kRandom };

class LookupThread {
 public:
  LookupThread(const LookupOptions& options, const BenchClient& client, std::span<const Key> resident,
               std::uint64_t seed)
      : options_(options),
        space_(client.space()),
        resident_(resident),
        lease_(client.make_lease(options.keys)),
        keys_(options.keys),
        chance_(seed) {}

  void run(Choice choice, TimeNs duration_ns) {
    samples.clear();
    const TimeNs end = now_ns() + duration_ns;
    for (unsigned round = 1; now_ns() < end; ++round) {
      choose(choice);
      if (round % kCheckEvery == 0) {
        look_and_check();
      } else {
        look_timed();
      }
    }
  }

  std::vector<double> samples;  ///< nanoseconds a key
  std::uint64_t wrong = 0;
  std::uint64_t misses = 0;

 private:
  // Copied, so that both choices read the keys from warm memory, as an engine that has just hashed them.
  void choose(Choice choice) {
    if (choice == Choice::kChain) {
      const std::size_t chain = chance_.below(resident_.size() / keys_.size());
      std::copy_n(resident_.begin() + static_cast<std::ptrdiff_t>(chain * keys_.size()), keys_.size(),
                  keys_.begin());
    } else {
      for (Key& key : keys_) key = resident_[chance_.below(resident_.size())];
    }
  }

  std::size_t look() {
    std::size_t ready = 0;
    need_ok(kvc_match(space_, as_c(keys_.data()), keys_.size(), nullptr, &ready), "kvc_match");
    need_ok(kvc_acquire(space_, as_c(keys_.data()), ready, options_.is_unordered ? KVC_UNORDERED : 0, 1,
                        lease_.get()),
            "kvc_acquire");
    return kvc_lease_held(lease_.get());
  }

  void look_timed() {
    const TimeNs start = now_ns();
    const std::size_t held = look();
    kvc_release(lease_.get());
    const TimeNs end = now_ns();
    samples.push_back(static_cast<double>(end - start) / static_cast<double>(keys_.size()));
    misses += keys_.size() - held;
  }

  void look_and_check() {
    misses += keys_.size() - look();
    wrong += wrong_blocks(lease_.get(), keys_);
    kvc_release(lease_.get());
  }

  const LookupOptions& options_;
  kvc_space* const space_;
  const std::span<const Key> resident_;
  Lease lease_;
  std::vector<Key> keys_;
  Prng chance_;
};

struct Medians {
  std::vector<double> p50;
  std::vector<double> p99;

  void add(const std::vector<double>& samples) {
    p50.push_back(percentile(samples, 0.5));
    p99.push_back(percentile(samples, 0.99));
  }
};

class Lookup {
 public:
  Lookup(const LookupOptions& options, const Common& common)
      : options_(options),
        common_(common),
        phase_ns_((common.is_quick ? 30 : 400) * kNsPerMs),
        chains_((options.resident + options.keys - 1) / options.keys),
        blocks_behind_(LookupBackground::blocks_needed(options_, common)),
        daemon_({common.socket, pool_bytes(chains_ * options.keys + blocks_behind_, kLookupBlockBytes)}),
        background_(options_, daemon_.socket(), blocks_behind_),
        keys_(chain_keys(0, chains_, options.keys)),
        client_(daemon_.socket(), {kLookupBlockBytes}) {}

  Report run() {
    fill_chains(client_, keys_, options_.keys);
    make_threads();
    const DaemonCounters counters = daemon_.counters();
    const std::uint64_t lost = counters.value("access_records_lost");
    const std::uint64_t taken = counters.value("access_records");
    background_.begin();
    measure();
    const double commits_per_s = background_.end();
    Report report("lookup");
    fill_in(report);
    report.add("background_commits_per_s", commits_per_s);
    report.add("background_commits_per_s_wanted", std::uint64_t{options_.commits_per_s});
    report.add("access_records", counters.value("access_records") - taken);
    report.add("access_records_lost", counters.value("access_records_lost") - lost);
    if (!options_.python.empty()) add_python(report);
    return report;
  }

 private:
  void make_threads() {
    for (unsigned i = 0; i < options_.threads; ++i) {
      threads_.push_back(std::make_unique<LookupThread>(options_, client_, keys_, 1000 + i));
    }
  }

  void measure() {
    run_phase(Choice::kChain);  // warms page tables and branch predictors
    LookupReference reference(options_);
    for (unsigned i = 0; i < common_.repeats; ++i) {
      reference_.push_back(reference.line_ns(phase_ns_ / 2));
      chain_.add(run_phase(Choice::kChain));
      random_.add(run_phase(Choice::kRandom));
    }
  }

  std::vector<double> run_phase(Choice choice) {
    std::vector<std::thread> running;
    for (const auto& thread : threads_) running.emplace_back([&] { thread->run(choice, phase_ns_); });
    for (std::thread& thread : running) thread.join();
    std::vector<double> samples;
    for (const auto& thread : threads_)
      samples.insert(samples.end(), thread->samples.begin(), thread->samples.end());
    return samples;
  }

  void fill_in(Report& report) {
    std::uint64_t misses = 0;
    for (const auto& thread : threads_) {
      report.count_errors(thread->wrong);
      misses += thread->misses;
    }
    report.add("resident", std::uint64_t{keys_.size()});
    report.add("keys", std::uint64_t{options_.keys});
    report.add("threads", std::uint64_t{options_.threads});
    report.add("order", std::string_view(options_.is_unordered ? "unordered" : "prefix"));
    report.add("ns_per_key_p50", median(chain_.p50));
    report.add("ns_per_key_p99", median(chain_.p99));
    report.add("random_ns_per_key_p50", median(random_.p50));
    report.add("random_ns_per_key_p99", median(random_.p99));
    report.add("us_per_call_p50", median(chain_.p50) * static_cast<double>(options_.keys) / 1000);
    report.add("reference",
               std::string_view("random cache lines of private memory, a thread each, prefetched"));
    report.add("reference_ns_per_line_p50", median(reference_));
    report.add("misses", misses);
  }

  void add_python(Report& report) {
    ::setenv("PYTHONPATH", (own_folder() + "/../python").c_str(), 0);
    report.add_json("python_", run_program({options_.python, own_folder() + "/kvbench_lookup.py", "--socket",
                                            daemon_.socket(), "--keys", std::to_string(options_.keys),
                                            "--chains", std::to_string(chains_), "--block-bytes",
                                            std::to_string(kLookupBlockBytes)}));
  }

  const LookupOptions options_;
  const Common& common_;
  const TimeNs phase_ns_;
  const std::size_t chains_;
  const std::uint64_t blocks_behind_;
  DaemonProcess daemon_;
  LookupBackground background_;  // forks: before the client
  std::vector<Key> keys_;
  BenchClient client_;
  std::vector<std::unique_ptr<LookupThread>> threads_;
  std::vector<double> reference_;
  Medians chain_;
  Medians random_;
};

}  // namespace

Report run_lookup(const LookupOptions& options, const Common& common) {
  return Lookup(options, common).run();
}

}  // namespace kvtier::bench
