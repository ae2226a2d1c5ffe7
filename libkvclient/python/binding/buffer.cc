#include "libkvclient/python/binding/buffer.h"

#include "libkvclient/python/binding/arguments.h"

namespace kvtier::python {

py::buffer_info Buffer::info() const {
  return {data_, 1, "B", 1, {static_cast<py::ssize_t>(bytes_)}, {1}, is_read_only_};
}

py::memoryview view_of(std::unique_ptr<Buffer> buffer) {
  return py::memoryview(py::cast(std::move(buffer)));
}

namespace {

// Sizes are checked before a byte is written.
void copy(const py::object& to_object, const py::object& from_object) {
  const WritableBytes to(to_object);
  const Bytes from(from_object);
  if (to.size() != from.size()) {
    raise_error(KVC_INVALID,
                "copy: " + std::to_string(from.size()) + " bytes into " + std::to_string(to.size()));
  }
  without_gil([&] { kvc_copy(to.data(), from.data(), to.size()); });
}

}  // namespace

void bind_buffer(py::module_& module) {
  py::class_<Buffer>(module, "Buffer", py::buffer_protocol()).def_buffer([](const Buffer& buffer) {
    return buffer.info();
  });
  module.def("copy", &copy);
}

}  // namespace kvtier::python
