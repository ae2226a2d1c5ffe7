#include "tools/kvctl/dump_words.h"

#include <array>
#include <cstdio>

namespace kvtier::ctl {

std::string_view copy_state(DiskFault fault) {
  return fault == DiskFault::kNone ? "ok" : disk_fault_name(fault);
}

std::string_view record_kind_name(RecordKind kind) {
  switch (kind) {
    case RecordKind::kBlock:
      return "block";
    case RecordKind::kTombstone:
      return "tombstone";
    case RecordKind::kInvalidation:
      return "invalidation";
  }
  return "unknown";
}

std::string store_text(const StoreId& store) {
  std::array<char, 33> text{};
  (void)std::snprintf(text.data(), text.size(), "%016llx%016llx",
                      static_cast<unsigned long long>(store.words[0]),
                      static_cast<unsigned long long>(store.words[1]));
  return text.data();
}

}  // namespace kvtier::ctl
