#include "libkvclient/python/binding/arguments.h"

#include <cstring>
#include <limits>

namespace kvtier::python {
namespace {

constexpr std::size_t kKeyBytes = sizeof(kvc_key);

// True when the object holds 32-bit integers end to end, which are then copied.
bool copy_words(const py::handle& object, std::vector<std::uint32_t>& tokens) {
  Py_buffer view{};
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  if (or_stay([&] { return PyObject_GetBuffer(object.ptr(), &view, PyBUF_FORMAT | PyBUF_ND); }) != 0) {
    PyErr_Clear();  // not contiguous: element by element then
    return false;
  }
  const bool is_signed = view.format != nullptr && std::strcmp(view.format, "i") == 0;
  const bool is_unsigned = view.format != nullptr && std::strcmp(view.format, "I") == 0;
  const bool fits = view.itemsize == sizeof(std::uint32_t) && view.ndim == 1 && (is_signed || is_unsigned);
  if (fits) {
    const auto* first = static_cast<const std::uint32_t*>(view.buf);
    tokens.assign(first, first + static_cast<std::size_t>(view.len) / sizeof *first);
  }
  PyBuffer_Release(&view);
  if (!is_signed || !fits) return fits;
  for (const std::uint32_t token : tokens) {
    if (token > std::numeric_limits<std::int32_t>::max()) raise_error(KVC_INVALID, "a token is negative");
  }
  return true;
}

std::uint32_t token_of(PyObject* item) {
  const auto number = py::reinterpret_steal<py::object>(or_stay([&] { return PyNumber_Index(item); }));
  if (!number) throw py::error_already_set();
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr || value > std::numeric_limits<std::uint32_t>::max()) {
    PyErr_Clear();
    raise_error(KVC_INVALID, "a token is not in 0 to 4294967295: " + std::string(py::str(number)));
  }
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Bytes::Bytes(const py::handle& object) {
  if (or_stay([&] { return PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE); }) != 0)
    throw py::error_already_set();
}

WritableBytes::WritableBytes(const py::handle& object) {
  if (or_stay([&] { return PyObject_GetBuffer(object.ptr(), &view_, PyBUF_WRITABLE); }) != 0)
    throw py::error_already_set();
}

Keys::Keys(const py::handle& object, const char* name) : bytes_(object), count_(bytes_.size() / kKeyBytes) {
  if (bytes_.size() % kKeyBytes != 0) {
    raise_error(KVC_INVALID,
                std::string(name) + ": " + std::to_string(bytes_.size()) + " bytes are not whole keys of 32");
  }
  data_ = static_cast<const kvc_key*>(bytes_.data());
  if (reinterpret_cast<std::uintptr_t>(data_) % alignof(kvc_key) == 0) return;
  copy_.resize(count_);
  std::memcpy(copy_.data(), bytes_.data(), bytes_.size());
  data_ = copy_.data();
}

const kvc_key* one_parent(const Keys& parents) {
  if (parents.count() > 1)
    throw py::value_error("parent is one key of 32 bytes, not " + std::to_string(parents.count()) + " keys");
  return parents.count() == 1 ? parents.data() : nullptr;
}

std::vector<std::uint32_t> tokens_of(const py::handle& object) {
  std::vector<std::uint32_t> tokens;
  if (copy_words(object, tokens)) return tokens;
  const auto items = py::reinterpret_steal<py::object>(
      or_stay([&] { return PySequence_Fast(object.ptr(), "tokens must be a sequence of integers"); }));
  if (!items) throw py::error_already_set();
  const auto count = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items.ptr()));
  tokens.reserve(count);
  // An item's __index__ may shorten the list: look at its size each time.
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
    tokens.push_back(token_of(PySequence_Fast_GET_ITEM(items.ptr(), i)));
  }
  return tokens;
}

}  // namespace kvtier::python
