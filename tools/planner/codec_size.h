#pragma once
// Bytes that a block takes in each codec, from the codecs' documented formats (README.md has the formulas). A row is the
// values of one layer, K or V, head and token. Metadata of all rows of a part come first, padded to 16 bytes, then the
// codes of all rows. Tables that a space needs once (sidecars) are not counted.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/planner/block_size.h"

namespace kvtier::plan {

enum class Codec : std::uint8_t { kRaw, kI8t, kXpl, kI4a, kI4c, kMix };

enum class Exactness : std::uint8_t {
  kExact,
  kBound,   ///< never larger; how much smaller depends on the bytes
  kAssumed  ///< exact for the shares of tokens that `note` names
};

struct CodecSize {
  Codec codec = Codec::kRaw;
  PayloadSize size;  ///< zeros where there is a refusal
  Exactness exactness = Exactness::kExact;
  std::string note;
  std::string refusal;  ///< why this model's blocks cannot have it; empty: they can
};

std::string_view codec_name(Codec codec);
std::string_view exactness_name(Exactness exactness);
/// Whether this build has the codec, not only its documented size.
bool is_in_build(Codec codec);

/// One row a codec, in the order of the enum. kInvalid: the uncoded block is too large.
Result<std::vector<CodecSize>> codec_sizes(const KvModel& model, const DType& dtype,
                                           std::uint64_t block_tokens);

}  // namespace kvtier::plan
