#pragma once
// One piece of page-aligned memory, cut up once: all that a store does I/O with apart from slots.

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvtier {

class ScratchArena {
 public:
  /// Stops the process when there is no memory: it is taken at start, and it is small.
  explicit ScratchArena(std::uint64_t bytes);
  ~ScratchArena();
  ScratchArena(const ScratchArena&) = delete;
  ScratchArena& operator=(const ScratchArena&) = delete;

  /// The next `bytes`, rounded up to whole pages.
  std::span<std::byte> take(std::uint64_t bytes);
  [[nodiscard]] std::span<std::byte> all() const { return memory_; }

 private:
  std::span<std::byte> memory_;
  std::uint64_t taken_ = 0;
};

}  // namespace kvtier
