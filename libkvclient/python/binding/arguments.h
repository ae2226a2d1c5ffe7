#pragma once
// Keys and tokens as Python has them: any buffer of 32 bytes a key; any sequence of integers.

#include <cstdint>
#include <vector>

#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

/// Bytes of a Python object, borrowed. Holds its export; made and ended with Python's lock.
class Bytes {
 public:
  explicit Bytes(const py::handle& object);
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { PyBuffer_Release(&view_); }

  [[nodiscard]] const void* data() const { return view_.buf; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

/// The same, to be written. BufferError when the object is read-only or has gaps.
class WritableBytes {
 public:
  explicit WritableBytes(const py::handle& object);
  WritableBytes(const WritableBytes&) = delete;
  WritableBytes& operator=(const WritableBytes&) = delete;
  ~WritableBytes() { PyBuffer_Release(&view_); }

  [[nodiscard]] void* data() const { return view_.buf; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

/// Keys laid end to end. Copied only where the buffer is not aligned as kvc_key.
class Keys {
 public:
  /// `name`: the argument's, for who gave something else.
  explicit Keys(const py::handle& object, const char* name = "keys");
  [[nodiscard]] const kvc_key* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  Bytes bytes_;
  std::vector<kvc_key> copy_;
  const kvc_key* data_ = nullptr;
  std::size_t count_ = 0;
};

/// The one key of `parent`; null: None. ValueError: several.
const kvc_key* one_parent(const Keys& parents);

/// 32-bit unsigned integers from a NumPy array, an array.array or any sequence.
std::vector<std::uint32_t> tokens_of(const py::handle& object);

}  // namespace kvtier::python
