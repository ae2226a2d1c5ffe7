#pragma once
// The text behind kvc_last_error, a thread each, and the step from Status to kvc_code.

#include "libkvclient/base/status.h"

namespace kvtier::client {

/// Stores the text and returns the code.
int report(const Status& status);
/// The same for fixed texts: allocates nothing.
int report(Code code, const char* static_text);
const char* last_error();

/// For the catch (...) at the edge of the C contract: what was thrown becomes a code. Allocates nothing.
int report_exception() noexcept;

/// The two failures that every call may have.
int report_forked();
int report_closed();

}  // namespace kvtier::client
