#pragma once
// The step from a kvc_code to a Python exception, and from Python's lock to a call that may block.

#include <optional>
#include <string>
#include <utility>

#include "kvclient/kvclient.h"
#include "libkvclient/python/binding/gil.h"

namespace kvtier::python {

/// Raises the class of kvclient.errors that belongs to `code`.
[[noreturn]] void raise_error(int code, const std::string& text);

/// Raises with kvc_last_error() unless the call succeeded.
inline void check(int code) {
  if (code != KVC_OK) raise_error(code, kvc_last_error());
}

/// Raises for what the caller did wrong (arguments, a handle that is over). Everything else is a miss on the
/// data path: the code is handed back.
inline int check_data_path(int code) {
  if (code == KVC_INVALID || code == KVC_STALE) raise_error(code, kvc_last_error());
  return code;
}

/// Lets signal handlers of Python (Ctrl-C) run while this thread waits in the library; what one raises ends the wait.
class SignalScope {
 public:
  SignalScope() : thread_(PyThreadState_Get()) { kvc_set_interrupt(&has_raised, this); }
  SignalScope(const SignalScope&) = delete;
  SignalScope& operator=(const SignalScope&) = delete;
  ~SignalScope() { kvc_set_interrupt(nullptr, nullptr); }
  /// With Python's lock, when what the call gave is owned by something.
  void raise() {
    if (raised_) throw std::move(*raised_);
  }

 private:
  static int has_raised(void* scope) noexcept;
  int look();

  PyThreadState* const thread_;
  std::optional<py::error_already_set> raised_;
};

/// Runs a `call` that may wait, and raises what a signal raised meanwhile.
template <class Call>
auto blocking(Call&& call) {
  SignalScope signals;
  auto result = without_gil(std::forward<Call>(call));
  signals.raise();
  return result;
}

/// Refuses a NUL, which would end a C string early: two different values must not become one.
const std::string& c_text(const std::string& text, const char* what);

}  // namespace kvtier::python
