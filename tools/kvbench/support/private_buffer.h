#pragma once
// Private memory of a process for references: small pages, touched, as the slabs of a daemon without huge
// pages.

#include <cstddef>
#include <span>

namespace kvtier::bench {

class PrivateBuffer {
 public:
  explicit PrivateBuffer(std::size_t bytes);
  PrivateBuffer(const PrivateBuffer&) = delete;
  PrivateBuffer& operator=(const PrivateBuffer&) = delete;
  ~PrivateBuffer();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::span<std::byte> piece(std::size_t i, std::size_t bytes) const {
    return {data_ + i * bytes, bytes};
  }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// Pushes everything else out of the caches, so that subject and reference begin alike.
void flush_caches();

}  // namespace kvtier::bench
