#pragma once
// The metadata at the beginning of a GGUF file, versions 2 and 3 (ggml's docs/gguf.md): a magic, counts, then keys with
// typed values, all little-endian. Whole numbers, truth values and short texts are kept, what a tokenizer or a template
// needs is walked over. A hostile file costs no more than kMetadataBytesMax of reading and is told what is wrong.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libkvclient/base/result.h"
#include "tools/planner/bounded_file.h"

namespace kvtier::plan {

inline constexpr std::uint64_t kMetadataBytesMax = 256ULL << 20;
inline constexpr std::uint64_t kGgufKeysMax = 65'536;
inline constexpr std::uint64_t kGgufKeyBytesMax = 1024;
inline constexpr std::uint64_t kGgufTextBytesMax = 4096;      ///< a longer text is walked over
inline constexpr std::uint64_t kGgufListMax = 65'536;         ///< likewise a longer list
inline constexpr std::uint64_t kGgufNumbersMax = 1ULL << 20;  ///< of all lists together

struct GgufValue {
  enum class Kind : std::uint8_t { kNumber, kText, kNumbers, kOther };
  Kind kind = Kind::kOther;            ///< kOther: floats, lists of texts, what is too long
  std::vector<std::uint64_t> numbers;  ///< one of kNumber
  bool is_negative = false;            ///< one of them is
  std::string text;
};

struct GgufHeader {
  std::uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> values;

  [[nodiscard]] const GgufValue* find(std::string_view key) const;
};

bool has_gguf_magic(std::string_view first_bytes);

/// kInvalid, kVersion: what is wrong, and where.
Result<GgufHeader> read_gguf_header(BoundedFile& source);

}  // namespace kvtier::plan
