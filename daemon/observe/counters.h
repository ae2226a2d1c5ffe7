#pragma once
// The daemon's side of the mapped counters file: made once at start, then relaxed stores by the agents.

#include <string>

#include "daemon/observe/counter_id.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

struct CountersOptions {
  std::string path;  ///< empty: memory of this process only (tests, simulation)
  std::string instance = "kvtierd";
  std::uint64_t start_realtime_ns = 0;  ///< 0: the host's clock
  std::uint32_t errors_max = 128;
};

/// Owns the mapping. Values: each by its one writer. Created before the agents start, outlives them.
class Counters {
 public:
  /// Writes a complete file beside `path` and renames it over: a reader never sees half of one. path_error(), or
  /// kNoSpace when its pages cannot be reserved.
  static Result<Counters> create(const CountersOptions& options, const Clock& clock);

  Counters(Counters&& other) noexcept;
  Counters& operator=(Counters&& other) = delete;
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters();

  /// By the counter's writer only: a plain load and a plain store.
  void add(Counter id, std::uint64_t delta = 1) {
    // relaxed: one writer, and no reader orders one counter against another.
    Word& word = word_of(id);
    word.store(word.load(std::memory_order_relaxed) + delta, std::memory_order_relaxed);
  }
  void set(Counter id, std::uint64_t value) { word_of(id).store(value, std::memory_order_relaxed); }
  /// By any thread, for counters whose writer is kAny.
  void add_shared(Counter id, std::uint64_t delta = 1) {
    word_of(id).fetch_add(delta, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get(Counter id) const { return word_of(id).load(std::memory_order_relaxed); }

  /// The conductor, once a round.
  void heartbeat(TimeNs now_ns) { header().heartbeat_ns.store(now_ns, std::memory_order_relaxed); }
  /// For an AgentRunner, which beats by itself.
  std::atomic<std::uint64_t>& heartbeat_cell() { return header().heartbeat_ns; }

  [[nodiscard]] CountersHeader& header() const { return *reinterpret_cast<CountersHeader*>(data_); }
  [[nodiscard]] ErrorRecord* error_records() const {
    return reinterpret_cast<ErrorRecord*>(data_ + header().errors_offset);
  }

 private:
  using Word = std::atomic<std::uint64_t>;

  Counters(std::byte* data, std::size_t bytes);
  [[nodiscard]] Word& word_of(Counter id) const {
    return words_[kCounterPlaces.word[static_cast<std::size_t>(id)]];
  }

  std::byte* data_;
  std::size_t bytes_;
  Word* words_;
  UniqueFd file_;  // open: the file is removed at a clean end
  std::string path_;
};

}  // namespace kvtier
