#pragma once
// A spec of one part for clients of the C API that a test or a bar runs. Equal arguments give the same space.

#include <cstdint>
#include <memory>
#include <string>

#include "kvclient/kvclient.h"

namespace kvtier::test {

struct SpecDeleter {
  void operator()(kvc_spec* spec) const { kvc_spec_destroy(spec); }
};
using PlainSpec = std::unique_ptr<kvc_spec, SpecDeleter>;

/// 16 tokens a block of `block_bytes`. Ends the process where the arguments make no spec.
PlainSpec plain_spec(const std::string& model, std::uint64_t block_bytes);

}  // namespace kvtier::test
