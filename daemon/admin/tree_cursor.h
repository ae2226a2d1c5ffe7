#pragma once
// The cursor of kvctl tree as text, so that no JSON reader rounds it: numbers joined by dashes. Peers are to
// pass it back unread; whatever one makes up leads to another place of the same forest, or to its end.

#include <optional>
#include <string>
#include <string_view>

#include "daemon/flow/admin.h"

namespace kvtier {

std::string tree_cursor_to_text(const TreeCursor& cursor);
std::optional<TreeCursor> tree_cursor_from_text(std::string_view text);

}  // namespace kvtier
