// kill -9 of a kvtierd with an NVMe tier, at any moment of its life: while it starts and recovers, while clients write,
// while it reclaims, flushes, invalidates, or ends. README.md says what must hold.

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "libkvclient/base/units.h"
#include "tests/kill/bars.h"
#include "tests/kill/disk_books.h"
#include "tests/support/scratch_dir.h"

namespace kvtier::kill {
namespace {

constexpr std::uint32_t kWriters = 3;
constexpr std::uint32_t kKillsOfAnEpoch = 18;
// More than an epoch writes, and so little that it reclaims all the time.
constexpr std::uint64_t kAmpleBytes = 518 * kMiB;
constexpr std::uint64_t kScarceBytes = 34 * kMiB;
constexpr std::uint64_t kMs = 1000;  // of usleep

enum class Phase : std::uint8_t { kStart, kBurst, kInvalidate, kFlush, kClose };
constexpr std::array<const char*, 5> kPhaseNames = {"start", "burst", "invalidate", "flush", "close"};
// In turn: most of a life is a burst.
constexpr std::array<Phase, 9> kTurns = {Phase::kBurst,      Phase::kStart, Phase::kBurst,
                                         Phase::kFlush,      Phase::kStart, Phase::kBurst,
                                         Phase::kInvalidate, Phase::kClose, Phase::kStart};

/// A store, its daemons one after the other, and the clients that outlive them.
class DiskEpoch {
 public:
  DiskEpoch(const BarOptions& options, std::string dir, std::uint32_t number, Prng& prng, DiskBooks& books)
      : dir_(std::move(dir)),
        is_strict_(number % 2 == 0),
        prng_(prng),
        books_(books),
        daemon_({.bin_dir = options.bin_dir,
                 .dir = dir_,
                 .is_kept = false,
                 .host_mib = 16,
                 .slab = "2MiB",
                 .config_path = dir_ + "/config.yaml"}) {
    std::filesystem::create_directory(dir_);
    make_store(1 + number / 2 % 2, number % 4 < 2 ? "back" : "through");
    for (std::uint32_t i = 0; i < kWriters; ++i) {
      writers_.push_back(std::make_unique<DiskWriter>(DiskWriterOptions{
          .socket = daemon_.socket(), .index = i, .seed = prng_.next(), .is_strict = is_strict_}));
    }
  }

  void run(std::uint32_t kills) {
    for (std::uint32_t i = 0; i < kills && books_.errors == 0; ++i) {
      live(i == 0 ? Phase::kBurst : kTurns[books_.kills % kTurns.size()]);
      for (const std::string& folder : folders_) books_.measure(folder, bound_bytes());
    }
    if (books_.errors == 0) close_books();
    for (const auto& writer : writers_) books_.add(writer->figures());
    if (books_.errors > 0) std::fprintf(stderr, "%s\n", daemon_.output_tail().c_str());
  }

 private:
  [[nodiscard]] std::uint64_t bound_bytes() const { return is_strict_ ? kAmpleBytes : kScarceBytes; }

  void make_store(std::uint32_t paths, const std::string& write_policy) {
    std::ofstream config(dir_ + "/config.yaml");
    config << "nvme:\n  segment_bytes: 4MiB\n  blocks_max: 100000\n  write_policy: " << write_policy
           << "\n  paths:\n";
    for (std::uint32_t i = 0; i < paths; ++i) {
      folders_.push_back(dir_ + "/nvme" + std::to_string(i));
      std::filesystem::create_directory(folders_.back());
      config << "    - {dir: " << folders_.back() << ", bytes: " << bound_bytes() / kMiB << "MiB}\n";
    }
  }

  // Writers work until they are told to stop, whoever is there to serve them.
  void let_work(const DiskWriter::Work& work) {
    stop_ = false;
    up_count_ = 0;
    for (const auto& writer : writers_) {
      threads_.emplace_back([this, &writer, work] {
        if (!writer->await_daemon(stop_)) return;
        ++up_count_;
        writer->check_promises(stop_);
        writer->work(work, stop_);
      });
    }
  }

  void stop_work() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  bool wait_until_up(TimeNs started_ns) {
    const SystemClock clock;
    while (up_count_.load() < kWriters) {
      if (clock.now_ns() > started_ns + 20 * kNsPerSecond) {
        books_.fail("the daemon does not come up");
        return false;
      }
      ::usleep(500);
    }
    up_ns_ = clock.now_ns() - started_ns;
    books_.up_max_ns = std::max(books_.up_max_ns, up_ns_);
    return true;
  }

  void live(Phase phase) {
    const TimeNs started_ns = SystemClock().now_ns();
    daemon_.launch();
    if (phase == Phase::kStart) {
      pause_up_to(up_ns_ / kNsPerUs * 12 / 10);
    } else {
      let_work({.invalidate_percent = phase == Phase::kInvalidate ? 30U : 3U,
                .pause_us_max = is_strict_ ? 20 * kMs : kMs});
      if (wait_until_up(started_ns)) wait_in(phase);
      books_.add(daemon_.counters(), is_strict_);
    }
    kill(phase);
    stop_work();
  }

  void wait_in(Phase phase) {
    switch (phase) {
      case Phase::kFlush:
        // The tier flushes by itself, a second after the first put.
        for (int i = 0; i < 200 && daemon_.counters()["nvme_puts"] == 0; ++i) ::usleep(10 * kMs);
        ::usleep(900 * kMs);
        return pause_up_to(300 * kMs);
      case Phase::kClose:
        pause_up_to(200 * kMs);
        daemon_.send(SIGTERM);
        return pause_up_to(40 * kMs);
      default:
        return pause_up_to(500 * kMs);
    }
  }

  void kill(Phase phase) {
    const int code = daemon_.end(SIGKILL, 20 * kNsPerSecond);
    ++books_.kills;
    ++books_.phases[kPhaseNames[static_cast<std::size_t>(phase)]];
    if (code == 128 + SIGKILL) return;
    if (code == 0 && phase == Phase::kClose) {
      ++books_.clean_ends;
    } else {
      books_.fail("the daemon ended by itself with " + std::to_string(code));
    }
  }

  void pause_up_to(std::uint64_t us) { ::usleep(static_cast<useconds_t>(prng_.below(us + 1))); }

  // All that was promised is looked for once more and read; then a clean end.
  void close_books() {
    const TimeNs started_ns = SystemClock().now_ns();
    daemon_.launch();
    stop_ = false;
    up_count_ = 0;
    for (const auto& writer : writers_) {
      threads_.emplace_back([this, &writer] {
        if (!writer->await_daemon(stop_)) return;
        ++up_count_;
        writer->check_promises(stop_);
        writer->restore_all(stop_);
      });
    }
    const bool is_up = wait_until_up(started_ns);
    if (!is_up) stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    books_.add(daemon_.counters(), is_strict_);
    if (is_up && daemon_.stop() != 0) books_.fail("the daemon did not end cleanly");
    for (const std::string& folder : folders_) books_.measure(folder, bound_bytes());
  }

  const std::string dir_;
  const bool is_strict_;
  Prng& prng_;
  DiskBooks& books_;
  std::vector<std::string> folders_;
  DaemonHost daemon_;
  std::vector<std::unique_ptr<DiskWriter>> writers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::uint32_t> up_count_ = 0;
  TimeNs up_ns_ = 100 * kNsPerMs;  ///< of the last start that was waited for
};

}  // namespace

int run_disk_bar(const BarOptions& options) {
  const test::ScratchDir dir;
  Prng prng(options.seed);
  DiskBooks books;
  for (std::uint32_t number = 0; books.kills < options.kills && books.errors == 0; ++number) {
    const auto left = static_cast<std::uint32_t>(options.kills - books.kills);
    // One after the other: the clients of an epoch are this process's.
    DiskEpoch epoch(options, dir.file("epoch" + std::to_string(number)), number, prng, books);
    epoch.run(std::min(left, std::min(kKillsOfAnEpoch, (options.kills + 1) / 2)));
  }
  return books.finish();
}

}  // namespace kvtier::kill
