#pragma once
// One mistake in the configuration, with cause and fix. All of them are collected and reported together.

#include <string>
#include <string_view>
#include <vector>

namespace kvtier {

struct Complaint {
  std::string where;  ///< file name, variable name or flag
  int line = 0;       ///< 0: the source has no lines
  std::string path;   ///< setting, "" when the whole file is meant
  std::string what;
  std::string fix;
};

/// "kvtierd.yaml:12: host.byte: unknown setting; did you mean host.bytes?"
std::string to_string(const Complaint& complaint);

/// One a line.
std::string to_string(const std::vector<Complaint>& complaints);

}  // namespace kvtier
