#pragma once
// Memory of blocks as Python sees it: an exporter that keeps what the memory belongs to alive, and tells when
// nobody looks at it any more.

#include <memory>

#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

/// What a buffer's memory belongs to: a lease, a reserved slot.
class MemoryOwner {
 public:
  MemoryOwner() = default;
  MemoryOwner(const MemoryOwner&) = delete;
  MemoryOwner& operator=(const MemoryOwner&) = delete;
  virtual ~MemoryOwner() = default;

  /// Buffers that something still looks at: a memoryview, a slice of one, a NumPy array. With Python's lock.
  std::size_t buffers_count = 0;
};

/// Exports [data, data + bytes). Memoryviews and arrays hold it, it holds its owner.
class Buffer {
 public:
  Buffer(std::shared_ptr<MemoryOwner> owner, void* data, std::size_t bytes, bool is_read_only)
      : owner_(std::move(owner)), data_(data), bytes_(bytes), is_read_only_(is_read_only) {
    ++owner_->buffers_count;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { --owner_->buffers_count; }

  [[nodiscard]] py::buffer_info info() const;

 private:
  std::shared_ptr<MemoryOwner> owner_;
  void* data_;
  std::size_t bytes_;
  bool is_read_only_;
};

py::memoryview view_of(std::unique_ptr<Buffer> buffer);
void bind_buffer(py::module_& module);

}  // namespace kvtier::python
