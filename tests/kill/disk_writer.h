#pragma once
// A client of the disk bar, in the driver's process: writes bursts, looks what is on disk, brings it back, compares
// every byte, invalidates; and knows what has to be there after a kill, and what must never be there again.
//
// Thread: one at a time. `figures()`: when no thread works.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/base/clock.h"
#include "libkvclient/base/digest.h"
#include "libkvclient/base/prng.h"

namespace kvtier::kill {

struct DiskWriterOptions {
  std::string socket;
  std::uint32_t index = 0;
  std::uint64_t seed = 1;
  /// The bound exceeds all that is written: what a client has seen on disk is there until it is invalidated.
  bool is_strict = false;
};

struct DiskWriterFigures {
  std::uint64_t blocks_committed = 0;
  std::uint64_t blocks_seen_on_disk = 0;
  std::uint64_t blocks_synced = 0;   ///< acknowledged as durable
  std::uint64_t blocks_checked = 0;  ///< leased, every byte compared
  std::uint64_t must_checked = 0;    ///< blocks that had to be there, looked up after a start
  std::uint64_t found_again = 0;     ///< without that promise: seen on disk, and there after a start
  std::uint64_t void_checked = 0;    ///< invalidated blocks, looked up after a start
  std::uint64_t invalidations = 0;   ///< acknowledged
  std::uint64_t wrong = 0;
  std::uint64_t lost = 0;
  std::uint64_t came_back = 0;
  std::uint64_t unexpected = 0;  ///< codes that nothing here explains
  std::string first_error;
};

class DiskWriter {
 public:
  explicit DiskWriter(const DiskWriterOptions& options);
  ~DiskWriter();
  DiskWriter(const DiskWriter&) = delete;
  DiskWriter& operator=(const DiskWriter&) = delete;

  using Stop = std::atomic<bool>;
  /// Until the daemon answers. False: it does not, or was told to stop.
  [[nodiscard]] bool await_daemon(const Stop& stop);
  /// After a start: all that must be there, all that must not.
  void check_promises(const Stop& stop);
  /// Everything that must be there comes back into memory and has its own bytes.
  void restore_all(const Stop& stop);

  struct Work {
    bool is_writing = true;
    std::uint64_t invalidate_percent = 2;
    std::uint64_t pause_us_max = 0;
  };
  void work(const Work& work, const Stop& stop);

  [[nodiscard]] const DiskWriterFigures& figures() const { return figures_; }

 private:
  static constexpr std::size_t kChainBlocks = 16;
  struct Chain {
    std::uint64_t number = 0;   ///< of the pattern; used once
    std::uint32_t on_disk = 0;  ///< a bit a block: a client saw that it is
  };
  /// The blocks of one spec.
  struct Space {
    kvc_space* handle = nullptr;
    std::vector<Chain> chains;
    std::vector<Chain> dead;  ///< invalidated, and that was acknowledged
    bool is_doubtful =
        false;  ///< an invalidation was not answered: it may have happened, and is asked for again
  };
  using States = std::uint8_t[kChainBlocks];

  void open();
  void round(const Work& work);
  void write(Space& space);
  void look(Space& space, Chain& chain);
  void restore(Space& space, Chain& chain);
  void read(Space& space, const Chain& chain);
  void sync(Space& space, Chain& chain);
  void invalidate(Space& space);
  /// False: the daemon is away, or the client not back yet.
  bool match(const Space& space, const Chain& chain, States& states);
  /// Whether `is_wanted` holds of the states within a while: a look-up may miss what is there.
  template <class Condition>
  bool settles(const Space& space, const Chain& chain, const Stop& stop, Condition is_wanted, bool& is_known);
  void check_chain(Space& space, Chain& chain, const Stop& stop);
  void check_dead(const Space& space, const Chain& chain, const Stop& stop);
  void expected(int code, const char* what);
  void error(std::uint64_t& count, const std::string& what);
  [[nodiscard]] std::vector<kvc_key> keys(const Chain& chain) const;
  bool chance(std::uint64_t percent) { return prng_.below(100) < percent; }

  const DiskWriterOptions options_;
  Prng prng_;
  kvc_client* client_ = nullptr;
  kvc_lease* lease_ = nullptr;
  Space spaces_[2];  ///< the second one is invalidated now and then
  std::uint64_t next_chain_ = 0;
  DiskWriterFigures figures_;
};

}  // namespace kvtier::kill
