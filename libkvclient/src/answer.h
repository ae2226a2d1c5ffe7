#pragma once
// What the daemon answered, in words: cause and fix.

#include <string>

#include "libkvclient/base/status.h"
#include "libkvclient/wire/commands.h"

namespace kvtier::client {

/// Why `op` ended with `code`. `detail`: the pid of a cause that names one.
std::string reason_of(Op op, Code code, Cause cause, std::uint32_t detail);

/// An answer as a Status: "kvc_pin: ...".
Status status_of(const Completion& answer, Op op);

}  // namespace kvtier::client
