#pragma once
// A parsed document as a plain tree with line numbers: what yaml_adapter.cc hands on.

#include <cstdint>
#include <string>
#include <vector>

namespace kvtier {

struct YamlMember;

struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  int line = 0;
  std::string text;        // scalar
  bool is_quoted = false;  // scalar
  std::vector<YamlNode> items;
  std::vector<YamlMember> members;
};

struct YamlMember {
  std::string key;
  int line = 0;
  YamlNode value;
};

}  // namespace kvtier
