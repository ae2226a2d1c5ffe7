#pragma once
// Requests that take long: how far they are is shown on a terminal while they go on.

#include "tools/kvctl/admin_client.h"

namespace kvtier::ctl {

/// Sends the request and returns its last line. Of the lines before it, those with `progress` go to `show`, which writes one
/// line to standard error, beginning with \r: only where that is a terminal.
Json request_with_progress(const Globals& globals, const Json& request,
                           const std::function<void(const Json&)>& show);

}  // namespace kvtier::ctl
