#include "daemon/disk/format_recovery.h"

namespace kvtier {
namespace {

// The order in which a segment's uses began: epochs first, since a crash may lose generations.
bool is_earlier(const SegmentIdentity& a, const SegmentIdentity& b) {
  return a.epoch != b.epoch ? a.epoch < b.epoch : a.generation < b.generation;
}

bool is_ok(DiskFault fault) {
  return fault == DiskFault::kNone;
}

// A trailer of an earlier use lies where the open segment's will be: expected, like zeros.
DiskFault why_scan(const SegmentFindings& found, bool is_older) {
  if (is_older || found.trailer == DiskFault::kEmpty || found.trailer == DiskFault::kForeign)
    return DiskFault::kNone;
  return is_ok(found.trailer) ? found.index : found.trailer;
}

}  // namespace

RecoveryPlan choose_recovery(const SegmentFindings& found) {
  const bool has_header = is_ok(found.header);
  if (found.header == DiskFault::kVersion || (found.trailer == DiskFault::kVersion && !has_header)) {
    return {RecoveryChoice::kRefuse, {}, DiskFault::kVersion};
  }
  const bool is_older =
      has_header && is_ok(found.trailer) && is_earlier(found.trailer_identity, found.header_identity);
  if (is_ok(found.trailer) && is_ok(found.index) && !is_older) {
    return {RecoveryChoice::kFooter, found.trailer_identity, found.header};
  }
  if (has_header) return {RecoveryChoice::kScan, found.header_identity, why_scan(found, is_older)};
  const bool is_unused = found.header == DiskFault::kEmpty && found.trailer == DiskFault::kEmpty;
  return {is_unused ? RecoveryChoice::kUnused : RecoveryChoice::kDrop,
          {},
          is_unused ? DiskFault::kNone : found.header};
}

}  // namespace kvtier
