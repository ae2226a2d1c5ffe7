#pragma once
// Commands for the NVMe tier that are decided and not sent yet, in order: its mailbox may be full. Memory taken at
// start. Thread: the conductor.

#include <vector>

#include "daemon/tier/disk_port.h"
#include "libkvclient/base/check.h"

namespace kvtier {

class DiskOutbox {
 public:
  explicit DiskOutbox(std::size_t capacity) : ring_(capacity) {}

  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t room() const { return ring_.size() - size_; }
  void push(const DiskCommand& command) {
    KV_CHECK(room() > 0, "who sends has asked for room");
    ring_[(first_ + size_++) % ring_.size()] = command;
  }
  /// Hands over as much as the port takes. Returns how many.
  std::size_t flush(DiskPort& port) {
    std::size_t sent = 0;
    for (; size_ > 0 && port.send(ring_[first_]); ++sent) {
      ring_[first_].described.reset();
      first_ = (first_ + 1) % ring_.size();
      --size_;
    }
    return sent;
  }
  void clear() {
    for (DiskCommand& each : ring_) each.described.reset();
    size_ = 0;
  }

 private:
  std::vector<DiskCommand> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace kvtier
