#pragma once
// Page-aligned zero-filled memory, as a fresh memfd mapping would be.

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

namespace kvtier {

class ZeroedMemory {
 public:
  explicit ZeroedMemory(std::size_t bytes)
      : bytes_((bytes + 4095) & ~std::size_t{4095}),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, bytes_)), &std::free) {
    std::memset(memory_.get(), 0, bytes_);
  }
  [[nodiscard]] std::span<std::byte> span() const { return {memory_.get(), bytes_}; }
  template <class T>
  [[nodiscard]] std::span<T> as() const {
    return {reinterpret_cast<T*>(memory_.get()), bytes_ / sizeof(T)};
  }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

}  // namespace kvtier
