#pragma once
// kvctl in this process: its words in, its standard output and exit status out.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvtier::test {

struct Said {
  int status = 0;
  std::string code;     ///< of a Failure, as main() would report it
  std::string message;  ///< likewise
  std::string text;     ///< standard output

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(text, nullptr, false); }
};

Said run_kvctl(const std::vector<std::string>& words);

}  // namespace kvtier::test
