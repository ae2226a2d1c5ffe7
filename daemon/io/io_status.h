#pragma once
// Words for what went wrong: call, errno and what to do about it. Off the data path: they allocate.

#include <string>

#include "daemon/io/io_types.h"
#include "libkvclient/base/status.h"

namespace kvtier {

/// What an operator can do about an errno of the storage; empty: nothing that is known here.
std::string_view io_advice(int error_number);
/// The failed call with errno and advice: kNoSpace where space is short, kDenied for a read-only file system,
/// kUnsupported where the kernel or the file system cannot, else kSystem.
Status io_error(std::string_view call, int error_number);
/// Of one event; ok for kDone and kReleased without an error. Names call, bytes and offset.
Status io_event_status(const IoEvent& event);
/// "RLIMIT_MEMLOCK is 8 MiB"
std::string memory_lock_limit();

}  // namespace kvtier
