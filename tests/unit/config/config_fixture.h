#pragma once
// Loads configurations from text, against a user database of two users and three groups.

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/load_config.h"

namespace kvtier {

class FixedIdentities final : public IdentityLookup {
 public:
  [[nodiscard]] std::optional<std::uint32_t> uid_of(const std::string& name) const override {
    if (name == "vllm") return 1001;
    if (name == "sglang") return 1002;
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::uint32_t> gid_of(const std::string& name) const override {
    if (name == "gpu") return 44;
    if (name == "kv") return 45;
    if (name == "adm") return 46;
    return std::nullopt;
  }
  [[nodiscard]] std::uint32_t own_uid() const override { return 990; }
};

inline ConfigLoad load_text(std::string_view text, std::vector<std::string> sets = {},
                            std::vector<std::string> environment = {}) {
  return load_config_text({"t.yaml", std::move(environment), std::move(sets)}, text, FixedIdentities());
}

/// All errors as one text, "" when the configuration loads.
inline std::string errors_of(std::string_view text, std::vector<std::string> sets = {},
                             std::vector<std::string> environment = {}) {
  return to_string(load_text(text, std::move(sets), std::move(environment)).errors);
}

inline ::testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in:\n" << text;
}

}  // namespace kvtier
