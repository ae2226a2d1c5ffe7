#pragma once
// Traces of lengths alone: arrival, tokens of the prompt, tokens generated. Lines of Azure's public traces:
//
//   TIMESTAMP,ContextTokens,GeneratedTokens
//   2023-11-16 18:17:03.9799600,4808,10

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/result.h"

namespace kvtier::sim {

struct LengthRequest {
  std::uint64_t time_ms = 0;  ///< since the first one of its trace
  std::uint32_t prompt = 0;   ///< tokens, at least one
  std::uint32_t output = 0;   ///< tokens

  [[nodiscard]] std::uint64_t total() const { return std::uint64_t{prompt} + output; }
};

class LengthParser {
 public:
  /// kInvalid: the line is none of these. The header is passed over.
  Status add_line(std::string_view line);
  /// In order of arrival. Nothing of it stays here.
  std::vector<LengthRequest> take();

 private:
  std::vector<LengthRequest> requests_;  // time since 1970 until take()
};

/// As read_trace.
Result<std::vector<LengthRequest>> read_length_trace(const std::string& path);

}  // namespace kvtier::sim
