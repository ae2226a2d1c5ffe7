#pragma once
// Tags of the spec's canonical encoding. Append, never renumber: they are hashed into every space digest.

#include <cstdint>

namespace kvtier {

inline constexpr std::uint32_t kSpecMagic = 0x5053564b;  // "KVSP"
inline constexpr std::uint32_t kSpecVersion = 1;

enum class SpecTag : std::uint16_t {
  kModel = 1,
  kRevision = 2,
  kAdapter = 3,
  kTokenizer = 4,
  kBlockTokens = 5,
  kParts = 6,
  kRope = 7,
  kCodec = 8,
  kShard = 9,
  kExtra = 10,
  // inside one part
  kPartName = 101,
  kPartBytes = 102,
  kPartLayerFirst = 103,
  kPartLayerCount = 104,
  kPartKvHeads = 105,
  kPartHeadDim = 106,
  kPartDtype = 107,
  kPartLayout = 108,
  // inside a shard
  kShardKvHeadFirst = 201,
  kShardKvHeadCount = 202,
  kShardMaxTp = 203,
  kShardLayerFirst = 204,
  kShardLayerCount = 205,
};

}  // namespace kvtier
