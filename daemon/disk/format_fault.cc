#include "daemon/disk/format_fault.h"

#include <array>

#include "libkvclient/base/check.h"

namespace kvtier {

std::string_view disk_fault_name(DiskFault fault) {
  static constexpr std::array<std::string_view, kDiskFaultCount> kNames = {
      "none",      "truncated", "empty",     "foreign",     "header_damaged",  "version",      "other_store",
      "misplaced", "stale",     "malformed", "other_block", "payload_damaged", "index_damaged"};
  const auto index = static_cast<std::size_t>(fault);
  KV_CHECK(index < kNames.size(), "the set of faults is closed");
  return kNames[index];
}

}  // namespace kvtier
