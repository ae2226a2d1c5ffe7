#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

namespace {

// Plain C, for nothing here may be unwound: see or_stay().
PyObject* make_error(int code, const std::string& text) {
  PyObject* words = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  PyObject* module = words != nullptr ? PyImport_ImportModule("kvclient.errors") : nullptr;
  PyObject* error = module != nullptr ? PyObject_CallMethod(module, "error_of", "iO", code, words) : nullptr;
  Py_XDECREF(module);
  Py_XDECREF(words);
  return error;
}

}  // namespace

void raise_error(int code, const std::string& text) {
  PyObject* error = or_stay([&] { return make_error(code, text); });
  if (error != nullptr) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  Py_XDECREF(error);
  throw py::error_already_set();
}

int SignalScope::has_raised(void* scope) noexcept {
  auto& self = *static_cast<SignalScope*>(scope);
  if (self.raised_ || is_finalizing()) return self.raised_ ? 1 : 0;
  take_gil_back(self.thread_);
  const int has_raised = or_stay([&self] { return self.look(); });
  (void)PyEval_SaveThread();
  return has_raised;
}

int SignalScope::look() {
  if (PyErr_CheckSignals() == 0) return 0;
  try {
    raised_.emplace();
  } catch (const std::exception&) {  // no memory for what a handler raised: the wait ends as at its deadline
    PyErr_Clear();
  }
  return 1;
}

const std::string& c_text(const std::string& text, const char* what) {
  if (text.find('\0') != std::string::npos) raise_error(KVC_INVALID, std::string(what) + " contains a NUL");
  return text;
}

}  // namespace kvtier::python
