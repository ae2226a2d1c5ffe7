#pragma once
// Bytes of a file, in order, within bounds: nothing is taken on trust, neither lengths nor the file's own end.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier::plan {

class BoundedFile {
 public:
  /// Reads the first `bytes_max` bytes at most.
  BoundedFile(UniqueFd file, std::uint64_t file_bytes, std::uint64_t bytes_max);

  /// kInvalid: the file ends, or the bound is reached, before them; with offset and `what`.
  Status read(std::span<std::byte> into, std::string_view what);
  Status skip(std::uint64_t bytes, std::string_view what);

  void rewind() { offset_ = 0; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Bytes that may still be read.
  [[nodiscard]] std::uint64_t left() const { return end_ - offset_; }

 private:
  Status check(std::uint64_t bytes, std::string_view what) const;
  Status fill();

  const UniqueFd file_;
  const std::uint64_t file_bytes_;
  const std::uint64_t end_;
  std::uint64_t offset_ = 0;
  std::array<std::byte, 1 << 16> buffer_{};
  std::uint64_t buffer_offset_ = 0;  ///< of its first byte, in the file
  std::size_t buffer_bytes_ = 0;
};

}  // namespace kvtier::plan
