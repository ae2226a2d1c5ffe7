#pragma once
// Block keys from tokens: the chain that vLLM calls `sha256_cbor` (vllm/v1/core/kv_cache_utils.py,
// vllm/utils/hashing.py): key = SHA-256(canonical CBOR of [parent key, [tokens...], extra or null]).
// Equal input gives equal keys in every process, on every host and in every engine that uses the same chain.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libkvclient/base/digest.h"

namespace kvtier {

inline constexpr std::size_t kSaltBytesMax = 4096;

/// The parent of a first block: SHA-256 of the CBOR text string "vllm-none-hash" (vLLM's default seed).
Digest none_hash();

/// Key of one block. `salt` (any bytes that are valid as a CBOR text string, NUL allowed) is given for the
/// first block only and enters as vLLM's extra key; empty means null.
Key block_key(const Key& parent, std::span<const std::uint32_t> tokens, std::string_view salt);

/// Keys of all full blocks of `tokens`, first to last. `parent` null: the chain starts at none_hash().
/// Trailing tokens that do not fill a block have no key. block_tokens > 0; salt.size() <= kSaltBytesMax.
Result<std::vector<Key>> block_keys(std::span<const std::uint32_t> tokens, std::uint32_t block_tokens,
                                    std::string_view salt, const Key* parent = nullptr);

}  // namespace kvtier
