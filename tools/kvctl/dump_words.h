#pragma once
// Words that both forms of a dump have.

#include <string>
#include <string_view>

#include "daemon/disk/format.h"
#include "daemon/disk/format_fault.h"

namespace kvtier::ctl {

/// "ok", or the fault's name.
std::string_view copy_state(DiskFault fault);
std::string_view record_kind_name(RecordKind kind);
/// 32 hexadecimal digits.
std::string store_text(const StoreId& store);

}  // namespace kvtier::ctl
