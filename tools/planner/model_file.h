#pragma once
// A model's file, of either kind, told by what it begins with. Calls the system.

#include <string>
#include <string_view>

#include "libkvclient/base/result.h"
#include "tools/planner/kv_model.h"

namespace kvtier::plan {

/// A GGUF file, a config.json, or a folder that has one. `read_as` as in read_hf_config() and read_gguf_model().
/// kNotFound, kDenied, kSystem: it cannot be read; kInvalid, kUnsupported, kVersion: what is wrong with it. Messages
/// begin with the path.
Result<KvModel> read_model_file(const std::string& path, std::string_view read_as);

}  // namespace kvtier::plan
