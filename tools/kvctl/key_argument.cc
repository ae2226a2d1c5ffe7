#include "tools/kvctl/key_argument.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "tools/kvctl/text.h"

namespace kvtier::ctl {
namespace {

constexpr std::size_t kDigitsMin = 4;
constexpr std::size_t kDigitsMax = 64;
constexpr std::size_t kCandidatesShown = 16;

bool is_key_beginning(const std::string& digits) {
  return digits.size() >= kDigitsMin && digits.size() <= kDigitsMax &&
         digits.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Failure ambiguous(const std::string& digits, const std::set<std::string>& keys, bool has_more) {
  std::string message = "several keys begin with " + digits + "; give more digits of one of";
  for (const std::string& key : keys) message += "\n  " + key;
  return {kExitFailed, "ambiguous", message + (has_more ? "\n  and others" : "")};
}

}  // namespace

KeyArgument parse_key_argument(const std::string& text) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t dots = lower.find("..");
  KeyArgument key{lower.substr(0, dots), dots == std::string::npos ? "" : lower.substr(dots + 2)};
  if (is_key_beginning(key.first) && (dots == std::string::npos || is_key_beginning(key.last))) return key;
  throw Failure(
      kExitUsage, "usage",
      "KEY must be 4 to 64 hex digits, or two such joined by \"..\" as kvctl tree prints a chain, not " +
          printable(text));
}

std::vector<Json> find_blocks(AdminClient& client, const std::string& digits) {
  std::vector<Json> blocks;
  std::set<std::string> keys;
  client.rows({{"verb", "inspect"}, {"key", digits}}, [&](const Json& row) {
    keys.insert(text(row, "key"));
    blocks.push_back(row);
    return keys.size() <= kCandidatesShown;
  });
  if (blocks.empty())
    throw Failure(kExitFailed, "not_found",
                  "no block has a key that begins with " + digits + "; see kvctl ls");
  if (keys.size() == 1) return blocks;
  const bool has_more = keys.size() > kCandidatesShown;
  if (has_more) keys.erase(text(blocks.back(), "key"));
  throw ambiguous(digits, keys, has_more);
}

}  // namespace kvtier::ctl
