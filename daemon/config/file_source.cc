#include "daemon/config/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "daemon/config/settings_table.h"
#include "daemon/config/yaml_adapter.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {
namespace {

constexpr std::string_view kNamespaces = "namespaces";
constexpr std::string_view kNvmePaths = "nvme.paths";

struct Walk {
  std::string_view file;
  EffectiveValues& values;
  FileLists& lists;
  std::vector<Complaint>& complaints;

  void complain(int line, const std::string& path, std::string what, std::string fix) const {
    complaints.push_back({std::string(file), line, path, std::move(what), std::move(fix)});
  }
};

bool is_section(const std::string& path) {
  const std::string prefix = path + ".";
  return std::ranges::any_of(settings_table(),
                             [&](const auto& row) { return row.info.path.starts_with(prefix); });
}

std::string_view kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kMap:
      return "a map";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kScalar:
      return "a value";
    case YamlNode::Kind::kNull:
      break;
  }
  return "empty";
}

void apply_setting(const Walk& walk, const std::string& path, const YamlMember& member) {
  const YamlNode& node = member.value;
  const std::string accepted = "write " + accepted_values(find_setting(path)->info);
  if (node.kind == YamlNode::Kind::kScalar) {
    const SourcePlace place{SettingSource::kFile, std::string(walk.file), member.line};
    walk.values.set(path, {node.text, node.is_quoted}, place, walk.complaints);
  } else if (node.kind == YamlNode::Kind::kNull) {
    walk.complain(member.line, path, "has no value", accepted + ", or remove the line for the default");
  } else {
    walk.complain(member.line, path, "is " + std::string(kind_name(node)) + " where one value belongs",
                  accepted);
  }
}

void apply_map(const Walk& walk, const std::string& prefix, const YamlNode& map);

void apply_section(const Walk& walk, const std::string& path, const YamlMember& member) {
  if (member.value.kind == YamlNode::Kind::kMap) return apply_map(walk, path + ".", member.value);
  walk.complain(member.line, path, "is " + std::string(kind_name(member.value)) + " where a map belongs",
                "indent its settings below it, or remove the line");
}

void apply_map(const Walk& walk, const std::string& prefix, const YamlNode& map) {
  for (const YamlMember& member : map.members) {
    const std::string path = prefix + member.key;
    if (path == kNamespaces) {
      walk.lists.namespaces = &member.value;
    } else if (path == kNvmePaths && prefix == "nvme.") {
      walk.lists.nvme_paths = &member.value;
    } else if (find_setting(path) != nullptr && path.find('.', prefix.size()) == std::string::npos) {
      apply_setting(walk, path, member);
    } else if (is_section(path)) {
      apply_section(walk, path, member);
    } else if (find_setting(path) != nullptr) {
      walk.complain(member.line, path, "is written in one line with a dot",
                    "write it as a map, section by section");
    } else {
      walk.complaints.push_back(
          unknown_setting(path, {SettingSource::kFile, std::string(walk.file), member.line}));
    }
  }
}

}  // namespace

Result<std::string> read_config_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return Status::from_errno("open", errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Status::from_errno("fstat", errno);
  if (!S_ISREG(info.st_mode)) return Status(Code::kInvalid, "is not a regular file; name a YAML file");
  std::string text(kYamlBytesMax + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("read", errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

void apply_file(const YamlNode& root, std::string_view file, EffectiveValues& values, FileLists& lists,
                std::vector<Complaint>& complaints) {
  lists = {};
  const Walk walk{file, values, lists, complaints};
  if (root.kind == YamlNode::Kind::kMap) return apply_map(walk, "", root);
  walk.complain(root.line, "", "is " + std::string(kind_name(root)) + " where a map belongs",
                "write name: value, one a line");
}

}  // namespace kvtier
