#pragma once
// Records that wait for their place on a path, in the order in which they came. Fixed in size.

#include <cstdint>
#include <vector>

#include "daemon/disk/disk_types.h"
#include "libkvclient/base/check.h"

namespace kvtier {

enum class PutOrigin : std::uint8_t {
  kOwner,  ///< put(): answered with an event
  kMark,   ///< mark()
  kMove    ///< reclaim, of a block or a mark
};

struct QueuedPut {
  DiskPut put;
  std::uint64_t number = 0;  ///< rises along the path
  PutOrigin origin = PutOrigin::kOwner;
  RecordKind kind = RecordKind::kBlock;
};

class PutQueue {
 public:
  explicit PutQueue(std::size_t capacity) : puts_(capacity) {}

  [[nodiscard]] bool has_room(std::size_t count) const { return count_ + count <= puts_.size(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] const QueuedPut& at(std::size_t i) const { return puts_[(head_ + i) % puts_.size()]; }
  void push(const QueuedPut& put) {
    KV_CHECK(has_room(1), "a queue is asked for room before");
    puts_[(head_ + count_++) % puts_.size()] = put;
  }
  [[nodiscard]] QueuedPut& back() { return puts_[(head_ + count_ - 1) % puts_.size()]; }
  void pop(std::size_t count) {
    KV_CHECK(count <= count_, "only what is in a queue leaves it");
    head_ = (head_ + count) % puts_.size();
    count_ -= count;
  }

 private:
  std::vector<QueuedPut> puts_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kvtier
