#pragma once
// An engine of a test: what its "model" writes for a token depends on all tokens before it, as a KV cache does, so that a
// wrong block, or one of another prefix, shows.

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "kvclient/sequence.hpp"
#include "libkvclient/base/prng.h"

namespace kvtier::test {

using Tokens = std::vector<std::uint32_t>;
using kvclient::Sequence;

inline Tokens tokens_from(std::uint32_t first, std::size_t count) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

/// Row i: the state after tokens[0..i].
inline std::vector<std::uint64_t> rows_of(const Tokens& tokens) {
  std::vector<std::uint64_t> rows;
  std::uint64_t state = 1;
  for (const std::uint32_t token : tokens) rows.push_back(state = mix64(state * 31 + token + 1));
  return rows;
}

/// The bytes of token i in its block: all of its share, derived from the row.
template <class Byte>
std::span<Byte> row_in(std::span<Byte> block, std::size_t i, std::size_t block_tokens) {
  const std::size_t row_bytes = block.size() / block_tokens;
  return block.subspan(i % block_tokens * row_bytes, row_bytes);
}
inline std::uint64_t word_of(std::uint64_t row, std::size_t at) {
  return row ^ mix64(at);
}

/// Computes what is not written yet, into blocks that nobody else has; false: a block cannot be written.
inline bool compute(Sequence& sequence, const Tokens& tokens, std::size_t block_tokens) {
  const std::vector<std::uint64_t> rows = rows_of(tokens);
  for (std::size_t i = sequence.written_count(); i < tokens.size(); ++i) {
    const std::span<std::byte> block = sequence.writable(i / block_tokens);
    if (block.empty()) return false;
    const std::span<std::byte> row = row_in(block, i, block_tokens);
    for (std::size_t at = 0; at < row.size(); at += 8) {
      const std::uint64_t word = word_of(rows[i], at);
      std::memcpy(&row[at], &word, 8);
    }
  }
  return true;
}

/// The first token whose bytes are not the model's, among those that are written; written_count() when there is none.
inline std::size_t first_wrong(const Sequence& sequence, const Tokens& tokens, std::size_t block_tokens) {
  const std::vector<std::uint64_t> rows = rows_of(tokens);
  for (std::size_t i = 0; i < sequence.written_count(); ++i) {
    if (i / block_tokens >= sequence.table().size()) return i;
    const std::span<const std::byte> block = sequence.readable(i / block_tokens);
    if (block.empty()) return i;
    const std::span<const std::byte> row = row_in(block, i, block_tokens);
    for (std::size_t at = 0; at < row.size(); at += 8) {
      const std::uint64_t word = word_of(rows[i], at);
      if (std::memcmp(&row[at], &word, 8) != 0) return i;
    }
  }
  return sequence.written_count();
}

}  // namespace kvtier::test
