#pragma once
// One client process under load: looks up, leases, compares every byte, publishes, aborts, waits and pins,
// all through the C contract, until it is told to stop or killed.

#include <string>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/base/digest.h"
#include "libkvclient/base/prng.h"
#include "tests/kill/timed_call.h"
#include "tests/kill/worker_cells.h"

namespace kvtier::kill {

struct WorkerOptions {
  std::string cells_path;
  std::string socket_path;
  std::uint32_t index = 0;
  std::uint64_t seed = 1;
  std::uint32_t deadline_ms = 1000;
  std::uint32_t hold_ms_max = 20;  ///< leases are kept at most so long, over a daemon's death too
  std::uint32_t rounds_max = 0;    ///< ends by itself after so many; 0: when it is told to stop
};

/// Two spaces of different slot sizes, so that slabs change their writer and their cut.
inline constexpr std::size_t kSpaces = 2;
inline constexpr std::uint64_t kBlockBytes[kSpaces] = {64 * 1024, 96 * 1024};
inline constexpr std::uint64_t kChains = 96;
inline constexpr std::uint64_t kChainBlocks = 24;

struct Place {
  std::size_t space = 0;
  std::uint64_t chain = 0;
  std::uint64_t first = 0;
  std::size_t count = 0;
};
std::vector<kvc_key> keys_at(const Place& place);
/// Registers space i (kBlockBytes[i]).
int register_space(kvc_client* client, std::size_t i, std::uint64_t deadline_ns, kvc_space** space);

class Worker {
 public:
  explicit Worker(const WorkerOptions& options);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  int run();

 private:
  struct Held {
    kvc_lease* lease = nullptr;
    Place place;
    TimeNs until_ns = 0;
  };
  struct Writing {
    Place place;
    std::vector<kvc_slot> slots;
    TimeNs until_ns = 0;
  };

  void open();
  void round();
  void read();
  void write();
  void finish_writing(Writing& writing);
  void wait(const Place& place);
  void pin();
  void control();
  void pause();
  void release_due(TimeNs now_ns);
  void let_go_of_everything();
  void check(const Held& held, const char* when);
  void fill(const Writing& writing);
  /// How long to hold on to something; now and then much longer, over more than one death.
  TimeNs keep_ns(std::uint64_t percent);
  Place any_place(std::size_t count_max);
  bool chance(std::uint64_t percent) { return prng_.below(100) < percent; }

  const WorkerOptions options_;
  CellsFile cells_;
  WorkerCell& cell_;
  TimedCalls calls_;
  Prng prng_;
  kvc_client* client_ = nullptr;
  kvc_space* spaces_[kSpaces] = {};
  std::vector<Held> held_;
  std::vector<Writing> writing_;
};

}  // namespace kvtier::kill
