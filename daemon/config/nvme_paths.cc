// The list under `nvme.paths:`, entry by entry.
#include <algorithm>

#include "daemon/config/file_source.h"
#include "daemon/config/settings_table.h"

namespace kvtier {
namespace {

struct Reader {
  std::string_view file;
  std::vector<Complaint>& complaints;

  void complain(int line, const std::string& path, std::string what, std::string fix) const {
    complaints.push_back({std::string(file), line, path, std::move(what), std::move(fix)});
  }
};

void read_member(const Reader& reader, const std::string& prefix, const YamlMember& member,
                 NvmePathConfig& entry) {
  const SourcePlace place{SettingSource::kFile, std::string(reader.file), member.line};
  const Setting<NvmePathConfig>* row = find_nvme_path_setting(member.key);
  if (row == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& each : nvme_path_table()) names.push_back(each.info.path);
    Complaint complaint = unknown_name(member.key, names, place);
    complaint.path = prefix + complaint.path;
    return reader.complaints.push_back(std::move(complaint));
  }
  const std::string path = prefix + member.key;
  if (member.value.kind != YamlNode::Kind::kScalar)
    return reader.complain(member.line, path, "is not one value", "write " + accepted_values(row->info));
  Result<SettingValue> value = parse_setting(row->info, {member.value.text, member.value.is_quoted});
  if (!value.is_ok()) return reader.complaints.push_back(complaint_from(value.status(), path, place));
  row->store(entry, value.value());
}

NvmePathConfig read_entry(const Reader& reader, const std::string& prefix, const YamlNode& node) {
  NvmePathConfig entry;
  entry.where = std::string(reader.file) + ":" + std::to_string(node.line);
  for (const YamlMember& member : node.members) read_member(reader, prefix, member, entry);
  for (const auto& row : nvme_path_table()) {
    if (std::ranges::any_of(node.members, [&](const auto& each) { return each.key == row.info.path; }))
      continue;
    reader.complain(node.line, prefix + std::string(row.info.path), "is missing",
                    "write " + accepted_values(row.info));
  }
  return entry;
}

}  // namespace

std::vector<NvmePathConfig> read_nvme_paths(const YamlNode* list, std::string_view file,
                                            std::vector<Complaint>& complaints) {
  const Reader reader{file, complaints};
  std::vector<NvmePathConfig> entries;
  if (list == nullptr) return entries;
  if (list->kind != YamlNode::Kind::kList)
    reader.complain(list->line, "nvme.paths", "is not a list of paths", "write \"- dir: ...\", or remove it");
  for (const YamlNode& node : list->items) {
    const std::string prefix = "nvme.paths[" + std::to_string(entries.size()) + "].";
    if (node.kind == YamlNode::Kind::kMap) {
      entries.push_back(read_entry(reader, prefix, node));
    } else {
      reader.complain(node.line, "nvme.paths", "has an entry that is not a map", "write \"- dir: ...\"");
    }
  }
  return entries;
}

}  // namespace kvtier
