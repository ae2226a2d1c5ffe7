#pragma once
// Strict reads of a GGUF header's numbers under one architecture. The first mistake is kept and ends the reading; values
// read after it are 0 or empty.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/status.h"
#include "tools/planner/gguf_header.h"

namespace kvtier::plan {

class GgufKeys {
 public:
  /// `prefix`: what the keys begin with, the file's own architecture.
  GgufKeys(const GgufHeader& header, std::string prefix) : header_(header), prefix_(std::move(prefix)) {}

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  [[nodiscard]] bool is_list(std::string_view key) const;
  std::uint64_t need(std::string_view key);
  std::uint64_t number(std::string_view key, std::uint64_t otherwise);
  /// A list with one number a layer, or one number for all `layers`; absent: empty.
  std::vector<std::uint64_t> by_layer(std::string_view key, std::uint64_t layers);

  void fail(std::string message);
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  [[nodiscard]] const GgufValue* find(std::string_view key) const;

  const GgufHeader& header_;
  const std::string prefix_;
  Status status_;
};

}  // namespace kvtier::plan
