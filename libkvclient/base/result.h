#pragma once
// Result<T>: a value or the Status that says why there is none (g++ 12 has no std::expected in C++20 mode).

#include <optional>
#include <utility>

#include "libkvclient/base/check.h"
#include "libkvclient/base/status.h"

namespace kvtier {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose, `return value;`
  Result(Status status) : status_(std::move(status)) {  // NOLINT: implicit on purpose, `return status;`
    KV_CHECK(!status_.is_ok(), "a Result without a value needs a failure");
  }

  [[nodiscard]] bool is_ok() const { return value_.has_value(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] Code code() const { return status_.code(); }

  T& value() & {
    KV_CHECK(value_.has_value(), "value() of a failed Result");
    return *value_;
  }
  const T& value() const& {
    KV_CHECK(value_.has_value(), "value() of a failed Result");
    return *value_;
  }
  T&& value() && {
    KV_CHECK(value_.has_value(), "value() of a failed Result");
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace kvtier

/// Returns the failure of a Status expression to the caller.
#define KV_RETURN_IF_ERROR(expression)         \
  do {                                         \
    ::kvtier::Status kv_status = (expression); \
    if (!kv_status.is_ok()) return kv_status;  \
  } while (false)
