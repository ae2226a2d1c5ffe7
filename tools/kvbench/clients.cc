// kvbench clients: 1 to 64 processes that look blocks up and copy them out, beside the same processes copying
// private memory.

#include <array>
#include <cstring>
#include <memory>

#include "libkvclient/base/prng.h"
#include "tests/support/pattern_block.h"
#include "tools/kvbench/options.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/daemon_process.h"
#include "tools/kvbench/support/private_buffer.h"
#include "tools/kvbench/support/process_stats.h"
#include "tools/kvbench/support/resident_blocks.h"
#include "tools/kvbench/support/statistics.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kBlockBytes = 256 << 10;
constexpr std::size_t kLength = 16;  // blocks of a chain, looked up and copied together
constexpr std::size_t kChains = 16;  // 64 MiB: more than the caches hold
constexpr std::size_t kSamplesMax = 4096;

struct Tally {
  std::uint64_t operations = 0;
  std::uint64_t samples_count = 0;
  std::uint64_t cpu_ns = 0;
  std::array<float, kSamplesMax> samples{};  ///< microseconds; the first ones of a phase
};

enum class Phase : std::uint32_t { kReference, kSubject, kEnd };

struct Board {
  std::atomic<Phase> phase{Phase::kReference};
  std::atomic<TimeNs> end_ns{0};
  std::atomic<std::uint64_t> wrong{0};
  std::array<Tally, kClientsMax> tallies{};
};

struct Link {
  Shared<Board> board;
  std::array<Event, kClientsMax> go;
  Event done;
};

class Worker {
 public:
  Worker(unsigned number, const std::string& socket, Link& link, const PrivateBuffer& source)
      : link_(link),
        tally_(link.board->tallies[number]),
        source_(source),
        client_(socket, {kBlockBytes}),
        lease_(client_.make_lease(kLength)),
        target_(kLength * kBlockBytes),
        keys_(chain_keys(0, kChains, kLength)),
        chance_(number) {}

  void run(Phase phase) {
    tally_.operations = 0;
    tally_.samples_count = 0;
    const std::uint64_t cpu_ns = process_activity(::getpid()).cpu_ns;
    const TimeNs end = link_.board->end_ns.load();
    for (TimeNs now = now_ns(); now < end;) {
      const std::size_t chain = chance_.below(kChains);
      phase == Phase::kSubject ? read(chain) : copy_private(chain);
      const TimeNs after = now_ns();
      note(static_cast<float>(after - now) / 1000);
      if (phase == Phase::kSubject && tally_.operations % 64 == 1) check(chain);
      now = now_ns();
    }
    tally_.cpu_ns = process_activity(::getpid()).cpu_ns - cpu_ns;
  }

 private:
  void read(std::size_t chain) {
    const kvc_key* keys = as_c(&keys_[chain * kLength]);
    std::size_t ready = 0;
    need_ok(kvc_match(client_.space(), keys, kLength, nullptr, &ready), "kvc_match");
    need_ok(kvc_acquire(client_.space(), keys, ready, 0, 0, lease_.get()), "kvc_acquire");
    need(kvc_lease_held(lease_.get()) == kLength, "a resident block is not there");
    const void* const* blocks = kvc_lease_blocks(lease_.get());
    for (std::size_t i = 0; i < kLength; ++i)
      std::memcpy(target_.piece(i, kBlockBytes).data(), blocks[i], kBlockBytes);
    kvc_release(lease_.get());
  }

  void copy_private(std::size_t chain) {
    for (std::size_t i = 0; i < kLength; ++i) {
      std::memcpy(target_.piece(i, kBlockBytes).data(),
                  source_.piece(chain * kLength + i, kBlockBytes).data(), kBlockBytes);
      keep(target_.data());
    }
  }

  void check(std::size_t chain) {
    for (std::size_t i = 0; i < kLength; ++i) {
      const bool is_right =
          test::check_pattern(keys_[chain * kLength + i], target_.piece(i, kBlockBytes)) == kBlockBytes;
      if (!is_right) link_.board->wrong.fetch_add(1);
    }
  }

  void note(float us) {
    ++tally_.operations;
    if (tally_.samples_count < kSamplesMax) tally_.samples[tally_.samples_count++] = us;
  }

  Link& link_;
  Tally& tally_;
  const PrivateBuffer& source_;
  BenchClient client_;
  Lease lease_;
  PrivateBuffer target_;
  std::vector<Key> keys_;
  Prng chance_;
};

struct PhaseResult {
  double gb_per_s = 0, keys_per_s = 0, p99_us = 0, cpu_s_per_gb = 0;
};

class Clients {
 public:
  Clients(const ClientsOptions& options, const Common& common)
      : options_(options),
        common_(common),
        phase_ns_((common.is_quick ? 40 : 300) * kNsPerMs),
        daemon_({common.socket, 2 * kChains * kLength * kBlockBytes}),
        source_(kChains * kLength * kBlockBytes) {
    for (unsigned i = 0; i < options.clients_max; ++i) children_.emplace_back([this, i] { worker_body(i); });
  }

  Report run() {
    BenchClient filler(daemon_.socket(), {kBlockBytes});
    fill_chains(filler, chain_keys(0, kChains, kLength), kLength);
    Report result("clients");
    std::vector<Report> rows;
    for (unsigned count = 1; count <= options_.clients_max; count *= 2) rows.push_back(measure(count));
    end_all();
    result.add("block_bytes", kBlockBytes);
    result.add("blocks_a_call", std::uint64_t{kLength});
    result.add("cpu_seconds_per_gb_moved", cpu_one_);
    result.add("reference", std::string_view("the same processes copying as much private memory"));
    result.add("counts", rows);
    result.count_errors(link_.board->wrong.load());
    return result;
  }

 private:
  void worker_body(unsigned number) {
    link_.go[number].wait();
    Worker worker(number, daemon_.socket(), link_, source_);
    while (true) {
      const Phase phase = link_.board->phase.load();
      if (phase == Phase::kEnd) return;
      worker.run(phase);
      link_.done.post();
      link_.go[number].wait();
    }
  }

  Report measure(unsigned count) {
    (void)phase(Phase::kSubject, count);  // connects, and maps the pages
    std::vector<PhaseResult> subject, reference;
    for (unsigned i = 0; i < common_.repeats; ++i) {
      reference.push_back(phase(Phase::kReference, count));
      subject.push_back(phase(Phase::kSubject, count));
    }
    const double rate = of(subject, &PhaseResult::gb_per_s);
    if (count == 1) cpu_one_ = of(subject, &PhaseResult::cpu_s_per_gb);
    Report row = Report::row();
    row.add("clients", std::uint64_t{count});
    row.add("gb_per_s", rate);
    row.add("reference_gb_per_s", of(reference, &PhaseResult::gb_per_s));
    row.add("ratio", rate / of(reference, &PhaseResult::gb_per_s));
    row.add("keys_per_s", of(subject, &PhaseResult::keys_per_s));
    row.add("p99_us", of(subject, &PhaseResult::p99_us));
    row.add("reference_p99_us", of(reference, &PhaseResult::p99_us));
    row.add("cpu_seconds_per_gb_moved", of(subject, &PhaseResult::cpu_s_per_gb));
    row.add("reference_cpu_seconds_per_gb_moved", of(reference, &PhaseResult::cpu_s_per_gb));
    return row;
  }

  PhaseResult phase(Phase which, unsigned count) {
    const std::uint64_t daemon_cpu = process_activity(daemon_.pid()).cpu_ns;
    const TimeNs start = now_ns();
    link_.board->phase.store(which);
    link_.board->end_ns.store(start + phase_ns_);
    for (unsigned i = 0; i < count; ++i) link_.go[i].post();
    for (unsigned i = 0; i < count; ++i) link_.done.wait();
    const double ns = static_cast<double>(now_ns() - start);
    return sum_up(count, ns, process_activity(daemon_.pid()).cpu_ns - daemon_cpu);
  }

  PhaseResult sum_up(unsigned count, double ns, std::uint64_t cpu_ns) {
    std::vector<double> samples;
    std::uint64_t operations = 0;
    for (unsigned i = 0; i < count; ++i) {
      const Tally& tally = link_.board->tallies[i];
      operations += tally.operations;
      cpu_ns += tally.cpu_ns;
      samples.insert(samples.end(), tally.samples.begin(),
                     tally.samples.begin() + static_cast<std::ptrdiff_t>(tally.samples_count));
    }
    const double bytes = static_cast<double>(operations * kLength * kBlockBytes);
    return {bytes / ns, static_cast<double>(operations * kLength) / ns * 1e9, percentile(samples, 0.99),
            static_cast<double>(cpu_ns) / bytes};
  }

  static double of(const std::vector<PhaseResult>& results, double PhaseResult::*field) {
    std::vector<double> values;
    values.reserve(results.size());
    for (const PhaseResult& result : results) values.push_back(result.*field);
    return median(values);
  }

  void end_all() {
    link_.board->phase.store(Phase::kEnd);
    for (unsigned i = 0; i < options_.clients_max; ++i) link_.go[i].post();
    for (Child& child : children_) child.join();
  }

  const ClientsOptions options_;
  const Common& common_;
  const TimeNs phase_ns_;
  DaemonProcess daemon_;
  PrivateBuffer source_;  // read by all, never written again: the children see the same pages
  Link link_;
  std::vector<Child> children_;
  double cpu_one_ = 0;
};

}  // namespace

Report run_clients(const ClientsOptions& options, const Common& common) {
  return Clients(options, common).run();
}

}  // namespace kvtier::bench
