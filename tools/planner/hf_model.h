#pragma once
// A Hugging Face config.json as the KV cache sees it. Text models inside others (text_config) are found. What is not
// understood is refused with what it is; nothing is guessed.

#include <string_view>

#include "libkvclient/base/result.h"
#include "tools/planner/kv_model.h"

namespace kvtier::plan {

/// `read_as`: a model_type to read it as; "": its own. kInvalid, kUnsupported: cause and what to give instead.
Result<KvModel> read_hf_config(std::string_view text, std::string_view read_as);

}  // namespace kvtier::plan
