#pragma once
// Parts of the subcommand share: two processes, one publishes and the other reads. The publisher is the
// benchmark's own process, the reader its child; they take turns, so that a reference runs alone.

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tools/kvbench/options.h"
#include "tools/kvbench/support/bench_client.h"
#include "tools/kvbench/support/child_process.h"
#include "tools/kvbench/support/private_buffer.h"
#include "tools/kvbench/support/stopwatch.h"

namespace kvtier::bench {

enum class ShareTask : std::uint32_t { kAcquire, kRead, kEnd };

/// Where block i is in a side's private memory, and whose pattern it has.
inline std::size_t buffer_of(const ShareOptions& options, std::size_t i) {
  return options.is_one_buffer ? 0 : i;
}
inline std::size_t buffers_count(const ShareOptions& options) {
  return options.is_one_buffer ? 1 : options.blocks;
}

/// The subject's copy; the reference is always memcpy.
inline void copy_block(const ShareOptions& options, void* to, const void* from) {
  if (options.is_memcpy) {
    std::memcpy(to, from, options.block_bytes);
  } else {
    kvc_copy(to, from, options.block_bytes);
  }
}

/// What the two processes tell each other. Times in nanoseconds for all blocks together.
struct ShareBoard {
  std::atomic<ShareTask> task{ShareTask::kAcquire};
  std::atomic<std::uint64_t> chain{0};  ///< the keys of this turn
  std::atomic<std::uint64_t> count{0};
  std::atomic<TimeNs> acquired_ns{0};  ///< when the last key was acquired
  std::atomic<TimeNs> read_ns{0};
  std::atomic<TimeNs> read_reference_ns{0};
  std::atomic<TimeNs> in_place_ns{0};  ///< acquire, sum of all words, release
  std::atomic<TimeNs> in_place_reference_ns{0};
  std::atomic<TimeNs> lease_only_ns{0};  ///< acquire and release of one block after the other
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> retries{0};  ///< look-ups of a published block that missed
};

struct ShareLink {
  Shared<ShareBoard> board;
  Event go;
  Event done;
};

/// Seconds-free names: a rate is bytes a nanosecond, that is GB/s.
class SharePublisher {
 public:
  SharePublisher(const ShareOptions& options, const std::string& socket, ShareLink& link);

  /// Fills the pool once, so that every slot was written and evicted before anything is timed.
  void warm(std::uint64_t pool_blocks);
  TimeNs copy_reference();
  /// From the first reserve until the reader has acquired the last key.
  TimeNs publish(std::size_t count);
  /// Of the last publish(): its median block's copy and commit, and an equal part of what is for all of them (the reservation,
  /// and the reader's acquiring). What stops one block for a moment does not count; in publish() it does.
  [[nodiscard]] double typical_block_ns() const;
  /// The reader copies the blocks just published, and does its references.
  void let_read();

 private:
  void hand_over(ShareTask task, std::size_t count);
  void fill_source(std::size_t count);
  [[nodiscard]] std::byte* source(std::size_t i) const {
    return source_.piece(buffer_of(options_, i), options_.block_bytes).data();
  }
  [[nodiscard]] std::byte* target(std::size_t i) const {
    return target_.piece(i, options_.block_bytes).data();
  }

  const ShareOptions options_;
  ShareLink& link_;
  BenchClient client_;
  PrivateBuffer source_;
  PrivateBuffer target_;  ///< stands for the slots, so always one a block
  std::uint64_t chain_ = 0;
  std::vector<Key> keys_;
  std::vector<kvc_slot> slots_;
  std::vector<double> block_ns_;
  TimeNs last_publish_ns_ = 0;
};

/// The child's whole life.
void share_reader_run(const ShareOptions& options, const std::string& socket, ShareLink& link);

}  // namespace kvtier::bench
