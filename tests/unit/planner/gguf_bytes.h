#pragma once
// Small GGUF headers, byte by byte as docs/gguf.md has them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/planner/bounded_file.h"
#include "tools/planner/gguf_header.h"

namespace kvtier::test {

/// Types of values, by the format's numbers.
enum class GgufType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kText,
  kList,
  kU64,
  kI64,
  kF64
};

class GgufBytes {
 public:
  explicit GgufBytes(std::uint32_t version = 3) : version_(version) {}

  GgufBytes& u32(std::string_view key, std::uint32_t value);
  GgufBytes& text(std::string_view key, std::string_view value);
  /// One value of any fixed size.
  GgufBytes& number(std::string_view key, GgufType type, std::uint64_t bits);
  GgufBytes& u32s(std::string_view key, const std::vector<std::uint32_t>& values);
  GgufBytes& bools(std::string_view key, const std::vector<bool>& values);
  GgufBytes& texts(std::string_view key, const std::vector<std::string>& values);
  /// A list's type and count with whatever bytes behind them.
  GgufBytes& list(std::string_view key, GgufType type, std::uint64_t count, std::string_view bytes);
  /// Key and type with whatever bytes behind them.
  GgufBytes& raw(std::string_view key, std::uint32_t type, std::string_view bytes);

  /// With so many keys in its count; ~0: as many as there are.
  [[nodiscard]] std::string bytes(std::uint64_t count = ~std::uint64_t{0}) const;

 private:
  const std::uint32_t version_;
  std::uint64_t count_ = 0;
  std::string pairs_;
};

std::string le32(std::uint32_t value);
std::string le64(std::uint64_t value);

Result<plan::GgufHeader> read_gguf(std::string_view bytes);

}  // namespace kvtier::test
