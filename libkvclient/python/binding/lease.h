#pragma once
// Leased blocks. The pins end with the lease object and the last buffer over one of its blocks.

#include "libkvclient/python/binding/buffer.h"
#include "libkvclient/python/binding/client.h"

namespace kvtier::python {

class LeaseMemory : public MemoryOwner {
 public:
  LeaseMemory(const std::shared_ptr<kvc_client>& client, std::size_t capacity);
  ~LeaseMemory() override { kvc_lease_destroy(handle_); }
  [[nodiscard]] kvc_lease* handle() const { return handle_; }

 private:
  kvc_lease* handle_ = nullptr;
};

class Lease {
 public:
  Lease(const std::shared_ptr<kvc_client>& client, std::size_t capacity)
      : memory_(std::make_shared<LeaseMemory>(client, capacity)) {}
  [[nodiscard]] kvc_lease* handle() const { return memory_->handle(); }
  [[nodiscard]] std::size_t count() const { return kvc_lease_count(handle()); }
  [[nodiscard]] py::object block(std::size_t i) const;
  /// Now, unless buffers are left: then with the last of them.
  void release() { memory_.reset(); }

 private:
  std::shared_ptr<LeaseMemory> memory_;
};

void bind_lease(py::module_& module);

}  // namespace kvtier::python
