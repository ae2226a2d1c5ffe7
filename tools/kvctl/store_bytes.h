#pragma once
// A file of a store's folder, open for reading alone: nothing of it is changed, no lock is kept, whoever has it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libkvclient/base/unique_fd.h"

namespace kvtier::ctl {

class StoreBytes {
 public:
  /// Throws Failure: not there, not readable, not a regular file.
  explicit StoreBytes(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// A daemon has it, or the kernel is still busy with requests of one that died. Asked by a lock that is given back at once.
  [[nodiscard]] bool is_in_use() const;

  /// What there is of the range: less where the file ends, or cannot be read, which is counted. Good until the next call.
  std::span<const std::byte> read(std::uint64_t offset, std::uint64_t bytes);
  /// The same for many small ranges that lie close together: they come from one larger read. Good until the next peek.
  std::span<const std::byte> peek(std::uint64_t offset, std::uint64_t bytes);
  /// Reads that failed; errno of the last.
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  std::span<const std::byte> fill(std::vector<std::byte>& buffer, std::uint64_t offset, std::uint64_t bytes);

  std::string path_;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
  std::vector<std::byte> buffer_;
  std::vector<std::byte> window_;
  std::uint64_t window_offset_ = 0;
  std::uint64_t window_bytes_ = 0;
  std::uint64_t failed_count_ = 0;
  int error_ = 0;
};

/// The first bytes of a small file as text; empty: it is not there, or cannot be read.
std::string read_first(const std::string& path);

}  // namespace kvtier::ctl
