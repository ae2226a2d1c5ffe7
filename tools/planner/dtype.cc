#include "tools/planner/dtype.h"

#include <algorithm>
#include <array>
#include <string>

namespace kvtier::plan {
namespace {

// Groups of llama.cpp's types: 32 values with an fp16 scale (and min for the _1 types), ggml-common.h.
constexpr std::array<DType, 16> kTypes = {{{"f64", 1, 8},
                                           {"f32", 1, 4},
                                           {"f16", 1, 2},
                                           {"bf16", 1, 2},
                                           {"f8_e4m3", 1, 1},
                                           {"f8_e5m2", 1, 1},
                                           {"f4_e2m1", 2, 1},
                                           {"i8", 1, 1},
                                           {"u8", 1, 1},
                                           {"i4", 2, 1},
                                           {"u4", 2, 1},
                                           {"q8_0", 32, 34},
                                           {"q4_0", 32, 18},
                                           {"q4_1", 32, 20},
                                           {"q5_0", 32, 22},
                                           {"q5_1", 32, 24}}};

struct Spelling {
  std::string_view text;
  std::string_view name;
};

constexpr std::array<Spelling, 19> kSpellings = {{{"fp32", "f32"},
                                                  {"float32", "f32"},
                                                  {"float", "f32"},
                                                  {"fp16", "f16"},
                                                  {"float16", "f16"},
                                                  {"half", "f16"},
                                                  {"bfloat16", "bf16"},
                                                  {"fp64", "f64"},
                                                  {"float64", "f64"},
                                                  {"fp8", "f8_e4m3"},
                                                  {"fp8_e4m3", "f8_e4m3"},
                                                  {"float8_e4m3fn", "f8_e4m3"},
                                                  {"fp8_e5m2", "f8_e5m2"},
                                                  {"float8_e5m2", "f8_e5m2"},
                                                  {"fp4", "f4_e2m1"},
                                                  {"int8", "i8"},
                                                  {"uint8", "u8"},
                                                  {"int4", "i4"},
                                                  {"uint4", "u4"}}};

}  // namespace

Result<DType> find_dtype(std::string_view text) {
  std::string_view name = text;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  const auto* const spelling = std::ranges::find(kSpellings, name, &Spelling::text);
  if (spelling != kSpellings.end()) name = spelling->name;
  const auto* const type = std::ranges::find(kTypes, name, &DType::name);
  if (type != kTypes.end()) return *type;
  std::string known;
  for (const DType& each : kTypes) known += (known.empty() ? "" : ", ") + std::string(each.name);
  return Status(Code::kInvalid, "\"" + std::string(text) + "\" is no dtype that KV has; known: " + known);
}

Result<std::uint64_t> row_bytes(const DType& dtype, std::uint64_t values) {
  if (values % dtype.group_values != 0) {
    return Status(Code::kInvalid, "a row of " + std::to_string(values) +
                                      " values is no whole number of groups of " +
                                      std::to_string(dtype.group_values) + ", which " +
                                      std::string(dtype.name) + " packs together; choose another dtype");
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(values / dtype.group_values, std::uint64_t{dtype.group_bytes}, &bytes))
    return Status(Code::kInvalid,
                  "a row of " + std::to_string(values) + " values has more than 2^64 - 1 bytes");
  return bytes;
}

}  // namespace kvtier::plan
