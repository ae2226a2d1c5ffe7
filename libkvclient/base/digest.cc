#include "libkvclient/base/digest.h"

#include <openssl/evp.h>

namespace kvtier {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Digest sha256(std::span<const std::byte> bytes) {
  Digest digest{};
  unsigned int length = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(&digest), &length,
                              EVP_sha256(), nullptr);
  KV_CHECK(done == 1 && length == sizeof digest, "SHA-256 is part of every OpenSSL provider that we accept");
  return digest;
}

std::string to_hex(const Digest& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(64);
  for (const std::byte byte : std::as_bytes(std::span(digest.words))) {
    hex += kDigits[static_cast<unsigned>(byte) >> 4];
    hex += kDigits[static_cast<unsigned>(byte) & 15];
  }
  return hex;
}

Result<Digest> digest_from_hex(std::string_view hex) {
  std::array<unsigned char, 32> bytes{};
  if (hex.size() != 2 * bytes.size()) {
    return Status(Code::kInvalid, "a key has 64 hexadecimal digits, not " + std::to_string(hex.size()));
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return Status(Code::kInvalid, "not a hexadecimal digit in \"" + std::string(hex) + "\"");
    bytes[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return digest_from_bytes(bytes.data());
}

}  // namespace kvtier
