#pragma once
// Python's lock: let go for the length of a call, and taken back without an end to the thread.
//
// CPython before 3.14 ends a daemon thread that wants the lock while the interpreter shuts down by pthread_exit, which
// unwinds the stack through our frames: a destructor that takes the lock back ends the process then (std::terminate), a
// catch (...) that swallows it too, and what else is destroyed would touch objects without the lock. Such a thread stays
// where it is instead, as 3.14 has it; the process ends without it.

#include <cxxabi.h>
#include <pybind11/pybind11.h>

#include <utility>

namespace kvtier::python {

namespace py = pybind11;

[[noreturn]] void stay_for_good() noexcept;

/// Runs a `call` that wants the lock, or runs code of Python, which lets go of it now and then. Its own frame should own
/// nothing: that would be destroyed on the way here.
template <class Call>
auto or_stay(Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (abi::__forced_unwind&) {
    stay_for_good();  // not thrown on, and never left
  }
}

inline bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

inline void take_gil_back(PyThreadState* thread) noexcept {
  or_stay([thread] { PyEval_RestoreThread(thread); });
}

/// Other threads run while it lives.
class WithoutGil {
 public:
  WithoutGil() : thread_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  ~WithoutGil() { take_gil_back(thread_); }

 private:
  PyThreadState* thread_;
};

/// Runs `call` while other Python threads run. For what does not wait.
template <class Call>
auto without_gil(Call&& call) {
  const WithoutGil released;
  return std::forward<Call>(call)();
}

/// For destructors: they run with the lock or without it, and while the interpreter shuts down. `call` may not throw.
template <class Call>
void without_gil_if_held(Call&& call) noexcept {
  if (PyGILState_Check() == 0 || is_finalizing()) return std::forward<Call>(call)();
  const WithoutGil released;
  std::forward<Call>(call)();
}

}  // namespace kvtier::python
