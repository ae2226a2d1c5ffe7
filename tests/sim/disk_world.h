#pragma once
// A store on simulated disks through several lives of its daemon: random work, cut anywhere (a power cut, or a kill that
// leaves the page cache), and an oracle that knows what must be there afterwards and what must not.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/support/sim_store.h"

namespace kvtier::test {

struct DiskWorldOptions {
  std::uint64_t seed = 1;
  std::uint32_t lives = 6;
  std::uint32_t steps_max = 900;     ///< of a life
  std::uint32_t syncs_left_out = 0;  ///< StoreOptions
  bool is_cut_early =
      false;  ///< lives that end while they open, on disks that leave no half-written sector as it was
  bool is_closed_often = false;  ///< lives that end cleanly, or are cut while they do
  bool has_bit_rot = false;      ///< between lives, and while they last, bytes of the disks change
};

/// What happened in all lives, to see that a world goes where the faults are.
struct DiskWorldStats {
  std::uint64_t cuts_while_opening = 0;
  std::uint64_t cuts_while_serving = 0;
  std::uint64_t kills = 0;
  std::uint64_t clean_ends = 0;
  std::uint64_t reads_ok = 0;
  std::uint64_t reads_refused = 0;  ///< kCorrupt
  std::uint64_t must_checked = 0;   ///< blocks that had to be there after a cut
  std::uint64_t void_checked = 0;   ///< marks that were in force at a start
  DiskStats store;                  ///< some of its counters, summed
};

class DiskWorld {
 public:
  explicit DiskWorld(const DiskWorldOptions& options);

  /// All lives. Empty, or what the oracle objects to; the seed replays it.
  std::string run();
  [[nodiscard]] const DiskWorldStats& stats() const { return stats_; }

 private:
  static constexpr std::uint64_t kKeys = 48;             ///< in each of two spaces
  using Name = std::pair<std::uint64_t, std::uint64_t>;  ///< number, space

  struct Fate {
    bool is_answered = false;   ///< put in this life, and not evicted since
    bool must_be = false;       ///< a flush said so, and nothing has ended that
    std::uint64_t version = 0;  ///< rises with all that ends a promise
  };
  struct Promise {
    Name name;
    std::uint64_t version = 0;
  };
  struct Mark {
    std::uint64_t space = 0;
    std::uint64_t number = 0;  ///< kKeys: the whole space
    std::uint64_t before = 0;  ///< what was born before it is void
    bool is_durable = false;
  };

  void live();
  void begin_life();
  void open_and_check();
  void work();
  void step();
  void end_life();
  void act();
  void put();
  void get();
  void mark();
  void evict();
  void close();
  void on_event(const DiskEvent& event);
  void on_flushed(const DiskEvent& event);
  void on_entry(const DiskEvent& event);
  void end_promise(const DiskKey& key);
  void check_must(const char* when);
  void check_erased(const std::vector<std::vector<std::uint32_t>>& free_segments);
  void check_superblocks();
  void rot();
  void object(const std::string& what);
  [[nodiscard]] Name name_of(const DiskKey& key) const;
  [[nodiscard]] DiskKey key_of(const Name& name) const {
    return sim_key(name.first + name.second * 1000, name.second + 1);
  }

  const DiskWorldOptions options_;
  Prng chance_;
  SimDisk disk_;
  std::size_t paths_;
  std::uint32_t scrambling_ = 0;
  std::unique_ptr<SimStore> sim_;
  std::map<std::array<std::uint64_t, 4>, Name> names_;  ///< by key
  std::map<Name, Fate> fates_;
  std::vector<Mark> marks_;
  std::map<std::uint64_t, std::vector<Promise>> flushes_;  ///< under way, by tag
  std::map<std::uint64_t, std::size_t> marks_open_;        ///< by tag
  std::uint64_t acts_ = 0;
  std::uint64_t epoch_ = 0;  ///< of the last life that was ready
  bool is_closing_ = false;
  bool was_closed_ = false;
  bool is_over_ = false;  ///< this life
  std::string objection_;
  DiskWorldStats stats_;
};

}  // namespace kvtier::test
