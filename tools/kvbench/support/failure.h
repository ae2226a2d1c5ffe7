#pragma once
// A benchmark that cannot go on throws; main prints the text and exits with 2.

#include <stdexcept>
#include <string>

#include "kvclient/kvclient.h"
#include "libkvclient/base/status.h"

namespace kvtier::bench {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void need(bool is_true, const std::string& what) {
  if (!is_true) throw Failure(what);
}

/// For calls of the C API.
inline void need_ok(int code, const char* call) {
  if (code != KVC_OK) throw Failure(std::string(call) + ": " + kvc_code_name(code) + ": " + kvc_last_error());
}

inline void need_ok(const Status& status) {
  if (!status.is_ok()) throw Failure(status.to_string());
}

}  // namespace kvtier::bench
