#pragma once
// A client with one space, for benchmarks: the C API under RAII; what fails throws.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/base/digest.h"

namespace kvtier::bench {

/// Equal options give the same space, so the blocks are shared.
struct SpaceOptions {
  std::uint64_t block_bytes = 0;
  std::string revision = "1";
};

struct LeaseDeleter {
  void operator()(kvc_lease* lease) const { kvc_lease_destroy(lease); }
};
using Lease = std::unique_ptr<kvc_lease, LeaseDeleter>;

static_assert(sizeof(Key) == sizeof(kvc_key));
static_assert(alignof(Key) == alignof(kvc_key));
inline const kvc_key* as_c(const Key* keys) {
  return reinterpret_cast<const kvc_key*>(keys);
}

class BenchClient {
 public:
  /// Fails unless the daemon answers.
  BenchClient(const std::string& socket, const SpaceOptions& options);
  BenchClient(const BenchClient&) = delete;
  BenchClient& operator=(const BenchClient&) = delete;
  ~BenchClient();

  [[nodiscard]] kvc_client* client() const { return client_; }
  [[nodiscard]] kvc_space* space() const { return space_; }
  [[nodiscard]] Lease make_lease(std::size_t capacity) const;

  /// Reserves, fills each new block with its key's pattern, commits and waits for it. How many were new.
  std::size_t put(std::span<const Key> keys, const Key* parent = nullptr);
  /// Brings back from disk what is not in memory. Throws but for what a full tier or a slow disk explains: then blocks
  /// are missing.
  void restore(std::span<const Key> keys) const;
  /// Leases the ready prefix and checks every byte. Wrong blocks; those that are missing are not wrong.
  std::uint64_t check(std::span<const Key> keys, std::size_t* held = nullptr);
  /// The same where block i has the pattern of patterns[i].
  std::uint64_t check(std::span<const Key> keys, std::span<const Key> patterns, std::size_t* held);

 private:
  kvc_client* client_ = nullptr;
  kvc_space* space_ = nullptr;
  std::uint64_t block_bytes_;
  std::vector<kvc_slot> slots_;
};

/// Blocks of a lease whose bytes are not their key's. Entries that are not held are skipped.
std::uint64_t wrong_blocks(const kvc_lease* lease, std::span<const Key> keys);

}  // namespace kvtier::bench
