#include "daemon/admin/admin_request.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "daemon/admin/tree_cursor.h"
#include "daemon/config/nearest_name.h"

namespace kvtier {
namespace {

using Input = nlohmann::json;

constexpr std::size_t kDepthMax = 4;
constexpr std::size_t kNameBytesMax = 255;

struct VerbRow {
  std::string_view name;
  AdminVerb verb;
  std::string_view fields;  ///< allowed beside "verb"
};
constexpr auto kVerbs = std::to_array<VerbRow>({{"version", AdminVerb::kVersion, ""},
                                                {"health", AdminVerb::kHealth, ""},
                                                {"status", AdminVerb::kStatus, ""},
                                                {"stats", AdminVerb::kStats, ""},
                                                {"namespaces", AdminVerb::kNamespaces, ""},
                                                {"spaces", AdminVerb::kSpaces, ""},
                                                {"clients", AdminVerb::kClients, ""},
                                                {"ls", AdminVerb::kLs, "namespace,space,limit,cursor"},
                                                {"tree", AdminVerb::kTree, "namespace,space,limit,cursor"},
                                                {"inspect", AdminVerb::kInspect, "key,limit,cursor"},
                                                {"evict", AdminVerb::kEvict, "key,namespace,space,disk"},
                                                {"flush", AdminVerb::kFlush, "namespace,space,all,disk"},
                                                {"sync", AdminVerb::kSync, "namespace,space,all"},
                                                {"kick", AdminVerb::kKick, "id,pid,session"},
                                                {"verify", AdminVerb::kVerify, ""}});

Status invalid(std::string message) {
  return {Code::kInvalid, std::move(message)};
}

// Brackets outside strings: deep nesting is refused before the parser builds it.
bool is_too_deep(std::string_view line) {
  std::size_t depth = 0;
  bool is_in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_in_string) {
      if (c == '\\') ++i;
      if (c == '"') is_in_string = false;
    } else if (c == '"') {
      is_in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDepthMax) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// "name" as a quotation in a message: printable ASCII, short.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, 40)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (text.size() > 40 ? "...\"" : "\"");
}

Status read_number(const Input& value, std::string_view field, std::uint64_t max, std::uint64_t& target) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max)
    return invalid(std::string(field) + " must be a whole number of at most " + std::to_string(max));
  target = value.get<std::uint64_t>();
  return Status::ok();
}

Status read_flag(const Input& value, std::string_view field, bool& flag) {
  if (!value.is_boolean()) return invalid(std::string(field) + " must be true or false");
  flag = value.get<bool>();
  return Status::ok();
}

Status read_key(const Input& value, std::string& key) {
  const std::string what = "key must be a string of 4 to 64 hex digits, the beginning of a block's key";
  if (!value.is_string()) return invalid(what);
  key = value.get<std::string>();
  std::ranges::transform(key, key.begin(), [](char c) { return c >= 'A' && c <= 'F' ? char(c + 32) : c; });
  const bool is_hex = key.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_hex && key.size() >= 4 && key.size() <= 64 ? Status::ok() : invalid(what);
}

Status read_namespace(const Input& value, std::string& name) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
      value.get_ref<const std::string&>().size() > kNameBytesMax)
    return invalid("namespace must be a string of 1 to 255 bytes");
  name = value.get<std::string>();
  return Status::ok();
}

Status read_tree_cursor(const Input& value, TreeCursor& cursor) {
  const std::optional<TreeCursor> read =
      value.is_string() ? tree_cursor_from_text(value.get_ref<const std::string&>()) : std::nullopt;
  if (!read) return invalid("cursor of a tree must be a string that an earlier page gave as \"next\"");
  cursor = *read;
  return Status::ok();
}

Status read_kick(const std::string& field, const Input& value, KickTarget& target) {
  if (target.number != 0) return invalid("kick takes one of id, pid and session");
  target.kind = field == "pid"       ? KickTarget::Kind::kProcess
                : field == "session" ? KickTarget::Kind::kSession
                                     : KickTarget::Kind::kEither;
  return read_number(value, field, ~std::uint64_t{0}, target.number);
}

Status read_field(const std::string& field, const Input& value, AdminRequest& request) {
  if (field == "namespace") return read_namespace(value, request.namespace_name);
  if (field == "key") return read_key(value, request.key);
  if (field == "cursor" && request.verb == AdminVerb::kTree)
    return read_tree_cursor(value, request.tree_cursor);
  if (field == "cursor") return read_number(value, field, ~std::uint32_t{0}, request.cursor);
  if (request.verb == AdminVerb::kKick) return read_kick(field, value, request.kick);
  if (field == "all") return read_flag(value, field, request.is_all);
  if (field == "disk") return read_flag(value, field, request.is_disk_too);
  std::uint64_t number = 0;
  KV_RETURN_IF_ERROR(
      read_number(value, field, field == "limit" ? kAdminPageRowsMax : ~std::uint32_t{0}, number));
  if (number == 0) return invalid(field + " must be at least 1");
  if (field == "limit") request.limit = static_cast<std::uint32_t>(number);
  if (field == "space") request.space = SpaceId{static_cast<std::uint32_t>(number)};
  return Status::ok();
}

const VerbRow* find_verb(std::string_view name) {
  const auto row = std::ranges::find(kVerbs, name, &VerbRow::name);
  return row == kVerbs.end() ? nullptr : &*row;
}

Status unknown_verb(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(kVerbs));
  for (const VerbRow& row : kVerbs) names.push_back(row.name);
  const std::string_view near = name.size() > 40 ? std::string_view() : nearest_name(name, names);
  return invalid("unknown verb " + in_quotes(name) +
                 (near.empty() ? "; there are " + joined_names(names)
                               : "; did you mean \"" + std::string(near) + "\"?"));
}

// What is asked for must be said: a forgotten filter never empties the cache.
Status check_together(const AdminRequest& request) {
  if (request.space != SpaceId::kNone && request.namespace_name.empty())
    return invalid("space needs a namespace: each namespace numbers its own spaces");
  if (request.verb == AdminVerb::kInspect && request.key.empty()) return invalid("inspect needs a key");
  if (request.verb == AdminVerb::kKick && request.kick.number == 0)
    return invalid("kick needs an id, a pid or a session, see clients");
  if (request.verb == AdminVerb::kEvict && request.key.empty() == request.namespace_name.empty())
    return invalid("evict needs a key, or a namespace (and a space)");
  if (request.verb == AdminVerb::kFlush && request.is_all != request.namespace_name.empty())
    return invalid("flush needs a namespace (and a space), or all");
  if (request.verb == AdminVerb::kSync && request.is_all != request.namespace_name.empty())
    return invalid("sync needs a namespace (and a space), or all");
  return Status::ok();
}

}  // namespace

Result<AdminRequest> parse_admin_request(std::string_view line) {
  if (line.size() > kAdminLineBytesMax) return invalid("the request is longer than 16 KiB");
  if (is_too_deep(line)) return invalid("the request is nested too deeply; it is one flat JSON object");
  const Input json = Input::parse(line, nullptr, false);
  if (!json.is_object()) return invalid("the request is not a JSON object on one line");
  const auto verb = json.find("verb");
  if (verb == json.end() || !verb->is_string())
    return invalid("the request has no \"verb\" that is a string");
  const VerbRow* row = find_verb(verb->get_ref<const std::string&>());
  if (row == nullptr) return unknown_verb(verb->get_ref<const std::string&>());
  AdminRequest request;
  request.verb = row->verb;
  const std::vector<std::string_view> allowed = split_names(row->fields, ',');
  for (const auto& [field, value] : json.items()) {
    if (field == "verb") continue;
    if (field.empty() || std::ranges::find(allowed, field) == allowed.end())
      return invalid(std::string(row->name) + " has no field " + in_quotes(field) +
                     (row->fields.empty() ? "" : "; it takes " + joined_names(allowed)));
    KV_RETURN_IF_ERROR(read_field(field, value, request));
  }
  KV_RETURN_IF_ERROR(check_together(request));
  return request;
}

}  // namespace kvtier
