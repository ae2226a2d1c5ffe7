#include "libkvclient/python/binding/buffer.h"

namespace kvtier::python {

py::buffer_info Buffer::info() const {
  return {data_, 1, "B", 1, {static_cast<py::ssize_t>(bytes_)}, {1}, is_read_only_};
}

py::memoryview view_of(std::unique_ptr<Buffer> buffer) {
  return py::memoryview(py::cast(std::move(buffer)));
}

void bind_buffer(py::module_& module) {
  py::class_<Buffer>(module, "Buffer", py::buffer_protocol()).def_buffer([](const Buffer& buffer) {
    return buffer.info();
  });
}

}  // namespace kvtier::python
