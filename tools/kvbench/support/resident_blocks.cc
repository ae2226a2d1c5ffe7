#include "tools/kvbench/support/resident_blocks.h"

#include <algorithm>

#include "libkvclient/base/units.h"
#include "tests/support/pattern_block.h"
#include "tools/kvbench/support/failure.h"

namespace kvtier::bench {

std::vector<Key> chain_keys(std::uint64_t first, std::size_t chains, std::size_t length) {
  std::vector<Key> keys;
  keys.reserve(chains * length);
  for (std::size_t i = 0; i < chains * length; ++i) {
    keys.push_back(test::pattern_key(first + i / length, i % length));
  }
  return keys;
}

void fill_chains(BenchClient& client, std::span<const Key> keys, std::size_t length) {
  for (std::size_t at = 0; at < keys.size(); at += length) {
    const std::span<const Key> chain = keys.subspan(at, std::min(length, keys.size() - at));
    need(client.put(chain) == chain.size(), "the pool is too small or not empty: a block was refused");
  }
}

std::uint64_t pool_bytes(std::uint64_t blocks, std::uint64_t block_bytes) {
  const std::uint64_t slot_bytes = round_up(block_bytes, 4096);
  return std::max<std::uint64_t>(round_up(blocks * slot_bytes, kMiB), 16 * kMiB);
}

}  // namespace kvtier::bench
