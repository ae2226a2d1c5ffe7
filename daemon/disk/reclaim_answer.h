#pragma once
// What an owner says when reclaim asks whether a copy is wanted.

#include <cstdint>

namespace kvtier {

enum class ReclaimAnswer : std::uint8_t {
  kDead,  ///< the index names another copy, or none. Nobody forgets anything: the segment goes
  kDrop,  ///< it was alive and is not worth a write: the owner has taken it from its index
  kKeep,  ///< moved if the budget allows: kMoved or kDropped follows
};

}  // namespace kvtier
