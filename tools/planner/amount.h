#pragma once
// Sums and products of sizes that may come from anybody: what does not fit 64 bits is remembered, never wrapped.

#include <cstdint>
#include <string>

#include "libkvclient/base/result.h"

namespace kvtier::plan {

class Amount {
 public:
  Amount(std::uint64_t value) : value_(value) {}  // NOLINT: implicit on purpose, `bytes * tokens`

  friend Amount operator*(Amount a, Amount b) {
    Amount result(0);
    result.is_beyond_ =
        __builtin_mul_overflow(a.value_, b.value_, &result.value_) || a.is_beyond_ || b.is_beyond_;
    return result;
  }
  friend Amount operator+(Amount a, Amount b) {
    Amount result(0);
    result.is_beyond_ =
        __builtin_add_overflow(a.value_, b.value_, &result.value_) || a.is_beyond_ || b.is_beyond_;
    return result;
  }

  /// kInvalid where it does not fit: `what` names it, "the KV of 8 sequences".
  [[nodiscard]] Result<std::uint64_t> value(const std::string& what) const {
    if (!is_beyond_) return value_;
    return Status(Code::kInvalid,
                  what + ": more than 2^64 - 1 bytes; check layers, heads, dimensions, tokens and batch");
  }

 private:
  std::uint64_t value_;
  bool is_beyond_ = false;
};

/// A multiple of `unit`, a power of two, and not less. Beyond 64 bits like the rest.
inline Amount rounded_up(Amount value, std::uint64_t unit) {
  const Result<std::uint64_t> padded = (value + (unit - 1)).value("");
  return padded.is_ok() ? Amount(padded.value() & ~(unit - 1)) : value + (unit - 1);
}

}  // namespace kvtier::plan
