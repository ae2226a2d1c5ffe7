#pragma once
// A client that may be closed while other threads are inside a call: the last of them closes it.

#include <memory>

#include "libkvclient/python/binding/call.h"

namespace kvtier::python {

class Client {
 public:
  Client(kvc_client* opened, std::uint32_t flags);
  /// Raises once it is closed.
  [[nodiscard]] std::shared_ptr<kvc_client> handle() const;
  [[nodiscard]] bool is_closed() const { return handle_ == nullptr; }
  /// Every acquire is a round trip.
  [[nodiscard]] bool verifies() const { return (flags_ & KVC_VERIFY) != 0; }
  void close();

 private:
  const std::uint32_t flags_;           ///< that it was opened with
  std::shared_ptr<kvc_client> handle_;  ///< with Python's lock
};

void bind_client(py::module_& module);

}  // namespace kvtier::python
