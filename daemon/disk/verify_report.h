#pragma once
// What a scrub of the store has found so far, as data. Trivially copyable.

#include <array>
#include <cstdint>

#include "daemon/disk/format_fault.h"

namespace kvtier {

enum class VerifyState : std::uint8_t {
  kNone,     ///< none was asked for yet
  kRefused,  ///< the store does not serve
  kRunning,
  kDone,
  kStopped,  ///< on demand, or since the store closes: what was not looked at is not known
};

struct VerifyReport {
  std::uint64_t tag = 0;  ///< whoever asked
  VerifyState state = VerifyState::kNone;
  std::uint64_t segments = 0;  ///< of all paths
  std::uint64_t segments_done = 0;
  std::uint64_t segments_unindexed = 0;    ///< of those: no footer, or a bad one; the next start scans them
  std::uint64_t segments_unreachable = 0;  ///< of those: their path does not serve
  std::uint64_t blocks_good = 0;
  std::uint64_t blocks_bad = 0;  ///< told as kDropped
  std::uint64_t marks_good = 0;
  std::uint64_t marks_bad = 0;
  std::uint64_t bytes = 0;       ///< of headers and payloads that were read
  std::uint64_t unreadable = 0;  ///< of the bad ones: the device failed; the others are in `faults`
  std::uint64_t too_large =
      0;  ///< more than a block may have now (smaller slabs than before): neither good nor bad
  std::uint64_t late = 0;  ///< the device did not answer in time: neither good nor bad
  std::array<std::uint64_t, kDiskFaultCount> faults{};
};

}  // namespace kvtier
