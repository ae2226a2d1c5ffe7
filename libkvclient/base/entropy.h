#pragma once
// The only source of unpredictable bits (getrandom): seeds and session secrets. Everything else is a Prng of
// such a seed.

#include <cstdint>

namespace kvtier {

std::uint64_t entropy64();

}  // namespace kvtier
