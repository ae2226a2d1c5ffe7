#pragma once
// 32-byte SHA-256 digests (adapter of OpenSSL): space digests and block keys.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "libkvclient/base/result.h"

namespace kvtier {

/// A SHA-256 digest or an engine's own 32-byte block hash. Trivially copyable; a wire type.
struct Digest {
  std::array<std::uint64_t, 4> words;

  friend bool operator==(const Digest&, const Digest&) = default;
  [[nodiscard]] bool is_zero() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
};
static_assert(sizeof(Digest) == 32);

/// The key of a block. All zero means "no key" and is refused where a key is due.
using Key = Digest;

Digest sha256(std::span<const std::byte> bytes);

inline Digest digest_from_bytes(const void* bytes) {
  Digest digest;
  std::memcpy(&digest, bytes, sizeof digest);
  return digest;
}

/// 64 lower-case hexadecimal digits.
std::string to_hex(const Digest& digest);
/// kInvalid unless exactly 64 hexadecimal digits.
Result<Digest> digest_from_hex(std::string_view hex);

}  // namespace kvtier
