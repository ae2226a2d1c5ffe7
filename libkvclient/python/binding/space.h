#pragma once

#include <memory>

#include "libkvclient/python/binding/client.h"
#include "libkvclient/python/binding/spec.h"

namespace kvtier::python {

struct Space {
  std::shared_ptr<Client> client;
  std::shared_ptr<kvc_space> handle;
  kvc_space_facts facts{};
};

std::unique_ptr<Space> register_space(const std::shared_ptr<Client>& client, const Spec& spec,
                                      std::uint64_t deadline_ns);
void bind_space(py::module_& module);

}  // namespace kvtier::python
