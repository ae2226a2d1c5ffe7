#pragma once
// How many bytes the values of a row of KV take. Names are those of a spec's parts (libkvclient/wire/spec.h); the ways
// in which model files and engines spell them are understood too.

#include <cstdint>
#include <string_view>

#include "libkvclient/base/result.h"

namespace kvtier::plan {

/// `group_values` values take `group_bytes` bytes, scales included: f16 is 1 in 2, llama.cpp's q8_0 is 32 in 34.
struct DType {
  std::string_view name;
  std::uint32_t group_values = 1;
  std::uint32_t group_bytes = 2;

  /// A float of 16 bits: what the codecs of section E are documented for.
  [[nodiscard]] bool is_half() const { return name == "f16" || name == "bf16"; }
};

/// "fp16", "torch.bfloat16", "f8_e4m3": kInvalid lists what is known.
Result<DType> find_dtype(std::string_view text);

/// Bytes of one row. kInvalid: not a whole number of groups.
Result<std::uint64_t> row_bytes(const DType& dtype, std::uint64_t values);

}  // namespace kvtier::plan
