#pragma once
// How a segment is recovered, decided by what its header, trailer and index are. FORMAT.md has the table.

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"

namespace kvtier {

enum class RecoveryChoice : std::uint8_t {
  kUnused = 0,  ///< never written: free
  kFooter = 1,  ///< its index names every record
  kScan = 2,    ///< its headers do
  kDrop = 3,    ///< nothing says which use of the segment it is: free, and its blocks are misses
  kRefuse = 4,  ///< another format version: the store is not opened
};

struct SegmentFindings {
  DiskFault header = DiskFault::kNone;
  SegmentIdentity header_identity{};
  DiskFault trailer = DiskFault::kNone;
  SegmentIdentity trailer_identity{};
  DiskFault index = DiskFault::kNone;  ///< looked at where the trailer is intact
};

struct RecoveryPlan {
  RecoveryChoice choice = RecoveryChoice::kDrop;
  SegmentIdentity identity{};            ///< for kFooter and kScan
  DiskFault counted = DiskFault::kNone;  ///< kNone where nothing is wrong: sealed, open, unused
};

RecoveryPlan choose_recovery(const SegmentFindings& found);

}  // namespace kvtier
