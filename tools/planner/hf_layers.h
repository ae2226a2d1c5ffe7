#pragma once
// Which layers of a model keep what: layer_types where config.json has it, else the rule of its family.

#include <string>
#include <vector>

#include "tools/planner/config_object.h"
#include "tools/planner/hf_family.h"
#include "tools/planner/kv_model.h"

namespace kvtier::plan {

struct HfLayer {
  LayerKind kind = LayerKind::kFull;
  std::uint64_t window = 0;
  std::string why;  ///< of kNone
};

/// One entry a layer. Mistakes are kept in `config`.
std::vector<HfLayer> hf_layers(const HfFamily& family, ConfigObject& config);

}  // namespace kvtier::plan
