#pragma once
// Keys in order, oldest first, every call O(n): what the models of the evictors' tests are made of.

#include <algorithm>
#include <cstdint>
#include <deque>

namespace kvtier {

class PlainQueue {
 public:
  [[nodiscard]] bool has(std::uint64_t key) const { return std::count(keys_.begin(), keys_.end(), key) > 0; }
  [[nodiscard]] double size() const { return static_cast<double>(keys_.size()); }
  void push(std::uint64_t key) { keys_.push_back(key); }
  bool take(std::uint64_t key) { return std::erase(keys_, key) > 0; }
  std::uint64_t pop() {
    const std::uint64_t key = keys_.front();
    keys_.pop_front();
    return key;
  }

 private:
  std::deque<std::uint64_t> keys_;
};

}  // namespace kvtier
