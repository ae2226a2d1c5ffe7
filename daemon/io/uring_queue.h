#pragma once
// The adapter of liburing: one pair of rings with its tables. Calls answer as liburing does: 0 or a count, or -errno.

#include <cstdint>
#include <memory>
#include <span>

#include "daemon/io/io_backend.h"

struct io_uring;

namespace kvtier {

/// How an operation names its file and its memory.
struct UringTarget {
  int fd = -1;            ///< a descriptor, or a place in the table of files
  bool is_place = false;  ///< the latter
  int region = -1;        ///< a place in the table of memory; -1: not registered
};

struct UringCompletion {
  std::uint64_t data = 0;
  std::int32_t result = 0;
};

class UringQueue {
 public:
  UringQueue();
  UringQueue(const UringQueue&) = delete;
  UringQueue& operator=(const UringQueue&) = delete;
  ~UringQueue();

  /// Room for `depth` operations and as many cancellations, and for the completions of both, so that those never
  /// overflow. May open smaller than that: see depth().
  int open(std::uint32_t depth, bool is_polled);
  [[nodiscard]] std::uint32_t depth() const;
  [[nodiscard]] std::uint32_t submissions_max() const;
  [[nodiscard]] int fd() const;
  /// One empty operation, there and back.
  int send_nothing();

  int register_files(std::span<const int> fds);
  int set_file(std::uint32_t at, int fd);
  int register_regions(std::uint32_t count);
  int set_region(std::uint32_t at, std::span<std::byte> memory);

  /// False: the submission ring is full.
  [[nodiscard]] bool push(const IoOperation& operation, const UringTarget& target, std::uint64_t data);
  [[nodiscard]] bool push_cancel(std::uint64_t cancelled, std::uint64_t data);
  /// How many the kernel took, from the front.
  int submit();
  /// False: nothing there.
  [[nodiscard]] bool pop(UringCompletion& completion);
  /// Blocks until pop() has something.
  int wait();

 private:
  int try_open(std::uint32_t depth, unsigned flags);

  const std::unique_ptr<io_uring> ring_;
  bool is_open_ = false;
};

}  // namespace kvtier
