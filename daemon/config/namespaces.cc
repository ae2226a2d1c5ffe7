// The list under `namespaces:`, entry by entry.
#include <algorithm>
#include <charconv>

#include "daemon/config/file_source.h"
#include "daemon/config/settings_table.h"

namespace kvtier {
namespace {

constexpr std::size_t kIdsMax = 64;

struct Reader {
  std::string_view file;
  const IdentityLookup& identities;
  std::vector<Complaint>& complaints;

  [[nodiscard]] SourcePlace place(int line) const { return {SettingSource::kFile, std::string(file), line}; }
  void complain(int line, const std::string& path, std::string what, std::string fix) const {
    complaints.push_back({std::string(file), line, path, std::move(what), std::move(fix)});
  }
};

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool has_leading_zero = text.size() > 1 && text[0] == '0';
  // The last number means "no user" to the kernel.
  if (error != std::errc() || end != text.data() + text.size() || has_leading_zero || number == ~0U)
    return std::nullopt;
  return number;
}

std::optional<std::uint32_t> identity(const Reader& reader, const SettingInfo& info, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return std::nullopt;
  const bool looks_like_number = !node.text.empty() && node.text[0] >= '0' && node.text[0] <= '9';
  if (looks_like_number) return number_of(node.text);
  return info.type == SettingType::kUserList ? reader.identities.uid_of(node.text)
                                             : reader.identities.gid_of(node.text);
}

SettingValue read_ids(const Reader& reader, const SettingInfo& info, const std::string& path,
                      const YamlMember& member) {
  SettingValue value;
  if (member.value.kind != YamlNode::Kind::kList) {
    reader.complain(member.line, path, "is not a list", "write " + accepted_values(info));
    return value;
  }
  if (member.value.items.size() > kIdsMax)
    reader.complain(member.line, path, "has more than " + std::to_string(kIdsMax) + " entries",
                    "use a group");
  for (const YamlNode& item : member.value.items) {
    const std::optional<std::uint32_t> id = identity(reader, info, item);
    const std::string kind = info.type == SettingType::kUserList ? "user" : "group";
    if (id.has_value()) {
      value.ids.push_back(*id);
    } else {
      reader.complain(item.line, path, "\"" + item.text.substr(0, 80) + "\" is no " + kind + " of this host",
                      "write a name that exists or a number");
    }
  }
  return value;
}

void read_member(const Reader& reader, const std::string& prefix, const YamlMember& member,
                 NamespaceConfig& entry) {
  const std::string path = prefix + member.key;
  const Setting<NamespaceConfig>* row = find_namespace_setting(member.key);
  if (row == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& each : namespace_table()) names.push_back(each.info.path);
    Complaint complaint = unknown_name(member.key, names, reader.place(member.line));
    complaint.path = prefix + complaint.path;
    return reader.complaints.push_back(std::move(complaint));
  }
  const SettingInfo& info = row->info;
  if (info.type == SettingType::kUserList || info.type == SettingType::kGroupList)
    return row->store(entry, read_ids(reader, info, path, member));
  if (member.value.kind != YamlNode::Kind::kScalar)
    return reader.complain(member.line, path, "is not one value", "write " + accepted_values(info));
  Result<SettingValue> value = parse_setting(info, {member.value.text, member.value.is_quoted});
  if (!value.is_ok())
    return reader.complaints.push_back(complaint_from(value.status(), path, reader.place(member.line)));
  row->store(entry, value.value());
}

void open_to_own_user(const IdentityLookup& identities, NamespaceConfig& entry) {
  if (!entry.owner_uids.empty() || !entry.group_gids.empty() || !entry.reader_uids.empty()) return;
  entry.owner_uids = {identities.own_uid()};
  if (identities.own_uid() != 0) entry.owner_uids.push_back(0);
}

NamespaceConfig read_entry(const Reader& reader, const std::string& prefix, const YamlNode& node) {
  NamespaceConfig entry;
  entry.where = std::string(reader.file) + ":" + std::to_string(node.line);
  for (const YamlMember& member : node.members) read_member(reader, prefix, member, entry);
  const bool has_name =
      std::ranges::any_of(node.members, [](const auto& each) { return each.key == "name"; });
  if (!has_name) reader.complain(node.line, prefix + "name", "is missing", "give every namespace a name");
  return entry;
}

}  // namespace

std::vector<NamespaceConfig> read_namespaces(const YamlNode* list, std::string_view file,
                                             const IdentityLookup& identities,
                                             std::vector<Complaint>& complaints) {
  const Reader reader{file, identities, complaints};
  std::vector<NamespaceConfig> entries;
  if (list == nullptr) {
    entries.emplace_back().name = "default";
    open_to_own_user(identities, entries.back());
    return entries;
  }
  if (list->kind != YamlNode::Kind::kList || list->items.empty())
    reader.complain(list->line, "namespaces", "is not a list of namespaces",
                    "write \"- name: ...\", or remove it");
  for (const YamlNode& node : list->items) {
    const std::string prefix = "namespaces[" + std::to_string(entries.size()) + "].";
    if (node.kind != YamlNode::Kind::kMap) {
      reader.complain(node.line, "namespaces", "has an entry that is not a map", "write \"- name: ...\"");
      continue;
    }
    NamespaceConfig entry = read_entry(reader, prefix, node);
    const bool is_repeated =
        !entry.name.empty() && std::ranges::count(entries, entry.name, &NamespaceConfig::name) > 0;
    if (is_repeated)
      reader.complain(node.line, prefix + "name", "\"" + entry.name + "\" is used twice", "rename one");
    open_to_own_user(identities, entry);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace kvtier
