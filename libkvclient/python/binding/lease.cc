#include "libkvclient/python/binding/lease.h"

namespace kvtier::python {

LeaseMemory::LeaseMemory(const std::shared_ptr<kvc_client>& client, std::size_t capacity) {
  check(kvc_lease_create(client.get(), capacity, &handle_));
}

py::object Lease::block(std::size_t i) const {
  if (i >= count()) throw py::index_error("the lease has " + std::to_string(count()) + " blocks");
  const void* data = kvc_lease_blocks(handle())[i];
  if (data == nullptr) return py::none();
  // Read-only for Python; const_cast because the buffer protocol knows one kind of pointer.
  return view_of(std::make_unique<Buffer>(memory_, const_cast<void*>(data), kvc_lease_block_bytes(handle()),
                                          /*is_read_only=*/true));
}

void bind_lease(py::module_& module) {
  // kvclient/lease.py never calls one that it released.
  py::class_<Lease>(module, "Lease")
      .def_property_readonly("count", &Lease::count)
      .def("block", &Lease::block)
      .def("release", &Lease::release);
}

}  // namespace kvtier::python
