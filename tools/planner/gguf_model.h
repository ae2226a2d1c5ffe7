#pragma once
// A GGUF header as the KV cache sees it: what llama.cpp would keep for the model. The header says nothing of the
// cache's dtype: llama.cpp's default is taken, and noted.

#include <string_view>

#include "libkvclient/base/result.h"
#include "tools/planner/gguf_header.h"
#include "tools/planner/kv_model.h"

namespace kvtier::plan {

/// `read_as`: an architecture to read it as; "": its own. kInvalid, kUnsupported: cause and what to give instead.
Result<KvModel> read_gguf_model(const GgufHeader& header, std::string_view read_as);

}  // namespace kvtier::plan
