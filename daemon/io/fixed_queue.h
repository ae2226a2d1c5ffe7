#pragma once
// First in, first out, of a size chosen at construction: no allocation afterwards.

#include <cstddef>
#include <vector>

#include "libkvclient/base/check.h"

namespace kvtier {

template <class Value>
class FixedQueue {
 public:
  explicit FixedQueue(std::size_t capacity) : values_(capacity) {}

  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }

  void push(const Value& value) {
    KV_CHECK(count_ < values_.size(), "a queue is sized for all that may lie in it");
    values_[(head_ + count_) % values_.size()] = value;
    ++count_;
  }
  Value pop() {
    KV_CHECK(count_ > 0, "pop() needs something");
    const Value value = values_[head_];
    head_ = (head_ + 1) % values_.size();
    --count_;
    return value;
  }

 private:
  std::vector<Value> values_;
  std::size_t head_ = 0;
  std::size_t count_ = 0;
};

}  // namespace kvtier
