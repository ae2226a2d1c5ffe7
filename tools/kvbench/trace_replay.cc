// Clients that take the requests of a trace in turn, as engines do: match, restore what is cold, lease the prefix and
// compare it, then reserve, fill and commit the rest.

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/support/pattern_block.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/failure.h"
#include "tools/kvbench/trace.h"
#include "tools/kvbench/trace_disk_watch.h"
#include "tools/traces/trace_file.h"

namespace kvtier::bench {
namespace {

constexpr std::uint64_t kDeadlineNs = 20'000'000'000;

// Requests of the trace, in its order, to whichever client is free.
class Requests {
 public:
  Requests(const TraceOptions& options, TraceBoard& board)
      : trace_(read(options.trace)),
        requests_max_(options.requests == 0
                          ? trace_.requests.size()
                          : std::min<std::uint64_t>(options.requests, trace_.requests.size())),
        interval_ns_(options.interval_ms * static_cast<double>(kNsPerMs)),
        seen_(trace_.unique),
        board_(board) {}

  // Not before its time.
  bool next(std::vector<Key>& keys) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t at = board_.requests.load();
    if (at == requests_max_) return false;
    if (at == 0) start_ns_ = now_ns();
    const TimeNs due_ns = start_ns_ + static_cast<TimeNs>(interval_ns_ * static_cast<double>(at));
    if (const TimeNs now = now_ns(); now < due_ns)
      std::this_thread::sleep_for(std::chrono::nanoseconds(due_ns - now));
    board_.requests.store(at + 1);
    const std::span<const sim::BlockNumber> blocks = trace_.blocks_of(trace_.requests[at]);
    board_.references.fetch_add(blocks.size());
    keys.clear();
    bool is_prefix_seen = true;
    for (const sim::BlockNumber block : blocks) {
      keys.push_back(test::pattern_key(block, 0));
      if (!seen_[block]) board_.unique.fetch_add(1);
      is_prefix_seen = seen_[block] && is_prefix_seen;
      seen_[block] = true;
      board_.hits_possible.fetch_add(is_prefix_seen ? 1 : 0);
    }
    return true;
  }

 private:
  static sim::Trace read(const std::string& path) {
    Result<sim::Trace> trace = sim::read_trace(path);
    need(trace.is_ok(), trace.status().message());
    return std::move(trace).value();
  }

  std::mutex mutex_;
  const sim::Trace trace_;
  const std::uint64_t requests_max_;
  const double interval_ns_;
  TimeNs start_ns_ = 0;
  std::vector<bool> seen_;  ///< by block
  TraceBoard& board_;
};

class Engine {
 public:
  Engine(const std::string& socket, std::uint64_t block_bytes, TraceBoard& board)
      : client_(socket, {block_bytes}),
        block_bytes_(block_bytes),
        lease_(client_.make_lease(0)),
        board_(board) {}

  void run(Requests& requests) {
    while (requests.next(keys_)) {
      const std::size_t held = read();
      store(held);
      kvc_release(lease_.get());
    }
  }

 private:
  // Leases the longest prefix that there is, on disk too. Its length.
  std::size_t read() {
    std::size_t ready = 0;
    states_.assign(keys_.size(), KVC_MISSING);
    note(kvc_match(client_.space(), as_c(keys_.data()), keys_.size(), states_.data(), &ready), "kvc_match");
    const auto known = std::find(states_.begin(), states_.end(), KVC_MISSING) - states_.begin();
    if (std::size_t(known) > ready) restore(std::size_t(known));
    note(kvc_acquire(client_.space(), as_c(keys_.data()), keys_.size(), 0, 0, lease_.get()), "kvc_acquire");
    const std::size_t held = kvc_lease_count(lease_.get());
    board_.wrong.fetch_add(wrong_blocks(lease_.get(), std::span(keys_).first(held)));
    const auto came = [&](std::uint8_t state) {
      return static_cast<std::uint64_t>(
          std::count(states_.begin(), states_.begin() + std::ptrdiff_t(held), state));
    };
    board_.hits_disk.fetch_add(came(KVC_STATE_ON_DISK));
    board_.hits_waited.fetch_add(came(KVC_STATE_PENDING));
    board_.hits_memory.fetch_add(held - came(KVC_STATE_ON_DISK) - came(KVC_STATE_PENDING));
    return held;
  }

  void restore(std::size_t count) {
    restored_.resize(count);
    std::size_t ready = 0;
    const int code =
        kvc_restore(client_.space(), as_c(keys_.data()), count, kDeadlineNs, restored_.data(), &ready);
    if (code == KVC_NO_SPACE || code == KVC_DEADLINE) {
      board_.restores_short.fetch_add(1);
    } else {
      note(code, "kvc_restore");
    }
  }

  // What an engine computes: all behind the prefix.
  void store(std::size_t held) {
    const std::span<const Key> rest = std::span<const Key>(keys_).subspan(held);
    if (rest.empty()) return;
    slots_.resize(rest.size());
    kvc_reserve_options options{};
    options.struct_size = sizeof options;
    options.parent = held > 0 ? as_c(&keys_[held - 1]) : nullptr;
    options.deadline_ns = kDeadlineNs;
    note(kvc_reserve(client_.space(), as_c(rest.data()), rest.size(), &options, slots_.data()),
         "kvc_reserve");
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const kvc_slot& slot = slots_[i];
      if (slot.code == KVC_OK) {
        test::fill_pattern(rest[i], {static_cast<std::byte*>(slot.data), block_bytes_});
        board_.stored.fetch_add(1);
      } else if (slot.code == KVC_NO_SPACE) {
        board_.refused.fetch_add(1);
      } else if (slot.code != KVC_EXISTS && slot.code != KVC_PENDING) {
        note(slot.code, "a slot of kvc_reserve");
      }
    }
    note(kvc_commit(client_.space(), slots_.data(), rest.size(), KVC_WAIT, kDeadlineNs), "kvc_commit");
  }

  void note(int code, const char* call) {
    if (code == KVC_OK || board_.failed.fetch_add(1) != 0) return;
    std::snprintf(board_.first_failure.data(), board_.first_failure.size(), "%s: %s: %s", call,
                  kvc_code_name(code), kvc_last_error());
  }

  BenchClient client_;
  const std::uint64_t block_bytes_;
  const Lease lease_;
  TraceBoard& board_;
  std::vector<Key> keys_;
  std::vector<std::uint8_t> states_, restored_;
  std::vector<kvc_slot> slots_;
};

}  // namespace

void trace_replay_run(const TraceOptions& options, const std::string& folder, const DaemonProcess& daemon,
                      TraceBoard& board) {
  Requests requests(options, board);
  const DiskWatch watch(folder, board);
  std::vector<std::unique_ptr<Engine>> engines;
  for (unsigned i = 0; i < options.clients; ++i)
    engines.push_back(std::make_unique<Engine>(daemon.socket(), options.block_bytes, board));
  const TimeNs start = now_ns();
  std::vector<std::string> failures(engines.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < engines.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          engines[i]->run(requests);
        } catch (const std::exception& error) {
          failures[i] = error.what();
        }
      });
    }
  }
  board.replay_ns.store(now_ns() - start);
  for (const std::string& failure : failures) need(failure.empty(), failure);
}

}  // namespace kvtier::bench
