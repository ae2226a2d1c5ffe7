#pragma once

#include <memory>

#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

/// Built field by field from kvclient/spec.py.
class Spec {
 public:
  explicit Spec(kvc_spec* created) : handle_(created, kvc_spec_destroy) {}
  [[nodiscard]] kvc_spec* handle() const { return handle_.get(); }

 private:
  std::unique_ptr<kvc_spec, void (*)(kvc_spec*)> handle_;
};

void bind_spec(py::module_& module);

}  // namespace kvtier::python
