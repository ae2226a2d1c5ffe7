#pragma once
// A trace file: plain JSON lines, or .zst through `zstd -dc`; "-": standard input.

#include <string>

#include "libkvclient/base/result.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

/// kNotFound, kSystem: it cannot be read; kUnsupported: there is no zstd; kInvalid: the first line that is wrong.
Result<Trace> read_trace(const std::string& path);

}  // namespace kvtier::sim
