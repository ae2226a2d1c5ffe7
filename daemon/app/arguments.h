#pragma once
// kvtierd's command line (adapter of CLI11 in the daemon).

#include <optional>
#include <string>
#include <vector>

namespace kvtier {

struct Arguments {
  std::string config_file;  ///< empty: built-in defaults
  std::vector<std::string> sets;
  bool is_check = false;  ///< check the configuration and end
};

/// Null: the process should end with `exit_code` (help, version, a usage error); what there is to say was
/// printed.
std::optional<Arguments> parse_arguments(int argc, const char* const* argv, int& exit_code);

}  // namespace kvtier
