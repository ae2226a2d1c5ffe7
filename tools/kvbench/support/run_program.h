#pragma once
// Another program's standard output.

#include <string>
#include <vector>

namespace kvtier::bench {

/// Throws unless it exits with 0.
std::string run_program(const std::vector<std::string>& command);
/// Folder of this program's own binary.
std::string own_folder();

}  // namespace kvtier::bench
