#pragma once
// A KEY on the command line, and the blocks that it means.

#include <string>
#include <vector>

#include "tools/kvctl/admin_client.h"

namespace kvtier::ctl {

/// What --help says of a KEY.
inline constexpr const char* kKeyHelp =
    "hex digits of a key, or its first 4 or more if no other key begins so; or FIRST..LAST as tree prints a "
    "chain";

/// Hex digits in lower case, 4 to all 64 of a key.
struct KeyArgument {
  std::string first;
  std::string last;  ///< of a chain; empty: one key
};

/// Throws Failure (kExitUsage): anything else was given.
KeyArgument parse_key_argument(const std::string& text);

/// The blocks of the one key that begins with the digits: in several spaces there may be one each. Throws Failure
/// (kExitFailed): "not_found", or "ambiguous" with the keys that are meant.
std::vector<Json> find_blocks(AdminClient& client, const std::string& digits);

}  // namespace kvtier::ctl
