#pragma once
// A pool full of blocks in chains of equal length, whose keys can be told from their place.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libkvclient/base/digest.h"
#include "tools/kvbench/support/bench_client.h"

namespace kvtier::bench {

/// The keys of chains `first` to `first + chains` in order.
std::vector<Key> chain_keys(std::uint64_t first, std::size_t chains, std::size_t length);

/// Commits all of them, one chain a call. Fails when one is not new: the pool was not empty or is too small.
void fill_chains(BenchClient& client, std::span<const Key> keys, std::size_t length);

/// Bytes of a pool for that many blocks: a slab of the daemon's own choosing may be left over.
std::uint64_t pool_bytes(std::uint64_t blocks, std::uint64_t block_bytes);

}  // namespace kvtier::bench
