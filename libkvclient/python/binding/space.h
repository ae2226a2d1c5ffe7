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

/// check_data_path for a call of the space. That the space is being invalidated at this moment is KVC_STALE too, and a miss.
int check_space_path(const Space& space, int code);

std::unique_ptr<Space> register_space(const std::shared_ptr<Client>& client, const Spec& spec,
                                      std::uint64_t deadline_ns);
void bind_space(py::module_& module);

}  // namespace kvtier::python
