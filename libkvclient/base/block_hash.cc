#include "libkvclient/base/block_hash.h"

#include <cstddef>

namespace kvtier {
namespace {

// The part of CBOR (RFC 8949, core deterministic encoding) that the chain uses.
class CborWriter {
 public:
  void unsigned_int(std::uint64_t value) { head(0, value); }
  void byte_string(const void* data, std::size_t length) {
    head(2, length);
    append(data, length);
  }
  void text_string(std::string_view text) {
    head(3, text.size());
    append(text.data(), text.size());
  }
  void array(std::uint64_t items) { head(4, items); }
  void null() { bytes_.push_back(std::byte{0xf6}); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t length) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + length);
  }
  // Major type in the top three bits, then the shortest form of the argument, big endian.
  void head(unsigned major, std::uint64_t value) {
    const auto top = static_cast<unsigned>(major << 5);
    if (value < 24) return push(top | static_cast<unsigned>(value));
    int width = 8;
    unsigned code = 27;
    if (value <= 0xff) {
      width = 1, code = 24;
    } else if (value <= 0xffff) {
      width = 2, code = 25;
    } else if (value <= 0xffffffff) {
      width = 4, code = 26;
    }
    push(top | code);
    for (int i = width - 1; i >= 0; --i) push(static_cast<unsigned>(value >> (8 * i)) & 0xff);
  }
  void push(unsigned byte) { bytes_.push_back(static_cast<std::byte>(byte)); }

  std::vector<std::byte> bytes_;
};

}  // namespace

Digest none_hash() {
  CborWriter cbor;
  cbor.text_string("vllm-none-hash");
  return sha256(cbor.bytes());
}

Key block_key(const Key& parent, std::span<const std::uint32_t> tokens, std::string_view salt) {
  CborWriter cbor;
  cbor.reserve(64 + 5 * tokens.size() + salt.size());
  cbor.array(3);
  cbor.byte_string(&parent, sizeof parent);
  cbor.array(tokens.size());
  for (const std::uint32_t token : tokens) cbor.unsigned_int(token);
  if (salt.empty()) {
    cbor.null();
  } else {
    // vLLM: extra_keys is a tuple of tuples, here (("cache_salt", salt),)
    cbor.array(1);
    cbor.array(2);
    cbor.text_string("cache_salt");
    cbor.text_string(salt);
  }
  return sha256(cbor.bytes());
}

Result<std::vector<Key>> block_keys(std::span<const std::uint32_t> tokens, std::uint32_t block_tokens,
                                    std::string_view salt, const Key* parent) {
  if (block_tokens == 0) return Status(Code::kInvalid, "block_tokens must be at least 1");
  if (salt.size() > kSaltBytesMax) {
    return Status(Code::kInvalid, "salt has " + std::to_string(salt.size()) + " bytes; at most " +
                                      std::to_string(kSaltBytesMax));
  }
  std::vector<Key> keys;
  keys.reserve(tokens.size() / block_tokens);
  Key previous = parent != nullptr ? *parent : none_hash();
  const bool is_chain_start = parent == nullptr;
  for (std::size_t at = 0; at + block_tokens <= tokens.size(); at += block_tokens) {
    const bool salted = is_chain_start && at == 0;
    previous = block_key(previous, tokens.subspan(at, block_tokens), salted ? salt : std::string_view());
    keys.push_back(previous);
  }
  return keys;
}

}  // namespace kvtier
