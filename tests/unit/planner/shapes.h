#pragma once
// Models of one kind of layer, and what is asked of them.

#include "tools/planner/tier_plan.h"

namespace kvtier::test {

struct Shape {
  std::uint32_t layers = 1;
  std::uint64_t heads = 1;
  std::uint64_t key_dim = 128;
  std::uint64_t value_dim = 128;
};

inline plan::KvModel model_of(const Shape& shape, plan::LayerKind kind = plan::LayerKind::kFull,
                              std::uint64_t window = 0) {
  plan::KvModel model{.name = "test"};
  for (std::uint32_t i = 0; i < shape.layers; ++i) {
    model.add(i, {.kind = kind,
                  .window = window,
                  .heads = shape.heads,
                  .key_dim = shape.key_dim,
                  .value_dim = shape.value_dim});
  }
  return model;
}

inline plan::DType dtype(std::string_view name) {
  return plan::find_dtype(name).value();
}

inline plan::Workload workload(std::uint64_t tokens, std::string_view type = "f16", std::uint64_t batch = 1) {
  return {.tokens = tokens, .batch = batch, .dtype = dtype(type)};
}

}  // namespace kvtier::test
