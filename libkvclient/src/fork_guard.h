#pragma once
// Tells a process from its forked children for the price of one load. The word lies in a page that the kernel
// clears in every child (MADV_WIPEONFORK), however the child was made; nothing runs in the child.

#include <atomic>
#include <cstdint>

namespace kvtier::client {

class ForkGuard {
 public:
  /// Belongs to the calling process.
  ForkGuard();
  [[nodiscard]] bool is_same_process() const {
    // relaxed: written before this object was published, and by a fork, which is a thread of its own.
    return word_->load(std::memory_order_relaxed) == token_;
  }

 private:
  const std::atomic<std::uint64_t>* word_;
  std::uint64_t token_;
};

}  // namespace kvtier::client
