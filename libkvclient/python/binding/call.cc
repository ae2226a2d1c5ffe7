#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

void raise_error(int code, const std::string& text) {
  const py::object error = py::module_::import("kvclient.errors").attr("error_of")(code, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw py::error_already_set();
}

int SignalScope::has_raised(void* scope) noexcept {
  auto& raised = static_cast<SignalScope*>(scope)->raised_;
  if (raised || _Py_IsFinalizing() != 0) return raised ? 1 : 0;
  try {
    const py::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) raised.emplace();
    return raised ? 1 : 0;
  } catch (...) {  // no memory for what a handler raised: the wait ends as at its deadline
    return 1;
  }
}

const std::string& c_text(const std::string& text, const char* what) {
  if (text.find('\0') != std::string::npos) raise_error(KVC_INVALID, std::string(what) + " contains a NUL");
  return text;
}

}  // namespace kvtier::python
