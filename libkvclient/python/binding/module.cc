// _kvclient: the C contract for Python. What is comfortable is in kvclient/*.py.

#include "libkvclient/python/binding/buffer.h"
#include "libkvclient/python/binding/client.h"
#include "libkvclient/python/binding/lease.h"
#include "libkvclient/python/binding/slot.h"
#include "libkvclient/python/binding/space.h"
#include "libkvclient/python/binding/spec.h"

PYBIND11_MODULE(_kvclient, module) {
  using namespace kvtier::python;
  module.def("version", &kvc_version);
  module.def("abi_version", &kvc_abi_version);
  module.def("code_name", &kvc_code_name);
  module.def("cause_name", &kvc_cause_name);
  module.attr("FLAG_READ_ONLY") = static_cast<std::uint32_t>(KVC_READ_ONLY);
  module.attr("FLAG_UNORDERED") = static_cast<std::uint32_t>(KVC_UNORDERED);
  module.attr("FLAG_ALL_OR_NOTHING") = static_cast<std::uint32_t>(KVC_ALL_OR_NOTHING);
  module.attr("FLAG_WAIT") = static_cast<std::uint32_t>(KVC_WAIT);
  module.attr("FLAG_VERIFY") = static_cast<std::uint32_t>(KVC_VERIFY);
  module.attr("FLAG_NO_CLAIM") = static_cast<std::uint32_t>(KVC_NO_CLAIM);
  bind_buffer(module);
  bind_spec(module);
  bind_client(module);
  bind_space(module);
  bind_lease(module);
  bind_slot(module);
}
