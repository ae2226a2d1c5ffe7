// What the library says about itself, and its words for codes.

#include "libkvclient/src/handles.h"
#include "libkvclient/wire/commands.h"

namespace kvtier::client {

int report_counted(Core& core, const Status& status) {
  // relaxed: statistics.
  if (status.code() == Code::kUnavailable) core.counts.unavailable.fetch_add(1, std::memory_order_relaxed);
  if (status.code() == Code::kDeadline) core.counts.deadline_exceeded.fetch_add(1, std::memory_order_relaxed);
  return report(status);
}

}  // namespace kvtier::client

using namespace kvtier;

extern "C" {

uint32_t kvc_abi_version(void) {
  return KVC_ABI_VERSION;
}

const char* kvc_version(void) {
  return KVTIER_VERSION;
}

const char* kvc_code_name(int code) {
  const bool is_known = code >= 0 && code < kCodeCount;
  return is_known ? code_name(static_cast<Code>(code)).data() : "unknown";
}

const char* kvc_cause_name(int cause) {
  static constexpr const char* kNames[] = {"none",         "tier_full",         "pinned_by",   "quota",
                                           "writer_busy",  "request_too_large", "invalidated", "index_full",
                                           "write_budget", "disk_full"};
  const bool is_known = cause >= 0 && cause < static_cast<int>(std::size(kNames));
  return is_known ? kNames[cause] : "unknown";
}

const char* kvc_last_error(void) {
  return client::last_error();
}

}  // extern "C"
