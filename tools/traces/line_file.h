#pragma once
// The lines of a trace file: plain, or .zst through `zstd -dc`; "-": standard input.

#include <functional>
#include <string>
#include <string_view>

#include "libkvclient/base/status.h"

namespace kvtier::sim {

/// Gives each line that is not blank to `add`, without its end. kNotFound, kSystem: it cannot be read; kUnsupported:
/// there is no zstd; kInvalid: the first line that `add` refuses, by number.
Status read_lines_of(const std::string& path, const std::function<Status(std::string_view)>& add);

}  // namespace kvtier::sim
