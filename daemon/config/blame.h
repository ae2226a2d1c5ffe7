#pragma once
// Complaints about a value that only others show to be wrong.

#include <string>
#include <string_view>

#include "daemon/config/complaint.h"
#include "daemon/config/config.h"

namespace kvtier {

/// The place is the one of the value of `path`.
Complaint about(const Config& config, std::string_view path, std::string what, std::string fix);
/// Whether any source but the default gave it.
bool is_set(const Config& config, std::string_view path);
/// In the largest unit that needs no rounding, to be copied into the file.
std::string exact_size(std::uint64_t bytes);

}  // namespace kvtier
