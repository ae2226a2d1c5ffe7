#include "daemon/config/settings_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "daemon/config/describe.h"
#include "daemon/config/overrides.h"
#include "daemon/config/reload.h"
#include "daemon/config/setting_value.h"
#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

constexpr const char* kDefaultFile = KVTIER_SOURCE_DIR "/config/kvtierd.yaml";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string read_default_file() {
  return read_file(kDefaultFile);
}

std::vector<SettingInfo> all_rows() {
  std::vector<SettingInfo> rows;
  for (const auto& row : settings_table()) rows.push_back(row.info);
  for (const auto& row : namespace_table()) rows.push_back(row.info);
  for (const auto& row : nvme_path_table()) rows.push_back(row.info);
  return rows;
}

TEST(SettingsTable, EveryRowHasHelpThatIsASentence) {
  for (const SettingInfo& info : all_rows()) {
    EXPECT_GE(info.effect.size(), 20U) << info.path;
    EXPECT_TRUE(info.effect.ends_with('.')) << info.path;
    EXPECT_FALSE(accepted_values(info).empty()) << info.path;
    EXPECT_TRUE(info.type != SettingType::kCount || !info.unit.empty()) << info.path;
  }
}

TEST(SettingsTable, EveryDefaultIsAValueOfItsRow) {
  for (const SettingInfo& info : all_rows()) {
    if (info.type == SettingType::kUserList || info.type == SettingType::kGroupList) continue;
    const Result<SettingValue> value = parse_setting(info, {info.default_text, false});
    EXPECT_TRUE(value.is_ok()) << info.path << ": " << value.status().to_string();
  }
}

TEST(SettingsTable, PathsAndVariablesAreUnique) {
  std::set<std::string> seen;
  for (const auto& row : settings_table()) {
    EXPECT_TRUE(seen.insert(std::string(row.info.path)).second) << row.info.path;
    EXPECT_TRUE(seen.insert(environment_name(row.info.path)).second) << row.info.path;
  }
}

TEST(SettingsTable, AnnotatedDefaultFileIsTheGeneratedOne) {
  if (std::getenv("KVTIER_UPDATE_GOLDEN") != nullptr) std::ofstream(kDefaultFile) << annotated_default();
  EXPECT_EQ(read_default_file(), annotated_default())
      << "run KVTIER_UPDATE_GOLDEN=1 build/tests/unit_config and commit config/kvtierd.yaml";
}

TEST(SettingsTable, AnnotatedDefaultParsesToExactlyTheDefaults) {
  const ConfigLoad built_in = load_config({}, FixedIdentities());
  const ConfigLoad from_file = load_text(read_default_file());
  ASSERT_TRUE(built_in.is_ok()) << built_in.status().to_string();
  ASSERT_TRUE(from_file.is_ok()) << from_file.status().to_string();
  EXPECT_TRUE(from_file.warnings.empty()) << to_string(from_file.warnings);
  for (std::size_t i = 0; i < settings_table().size(); ++i) {
    const EffectiveValue& value = from_file.config->effective[i];
    EXPECT_EQ(value.source, SettingSource::kFile) << settings_table()[i].info.path << " is not in the file";
    EXPECT_EQ(value.value.text, built_in.config->effective[i].value.text) << settings_table()[i].info.path;
  }
  EXPECT_TRUE(changed_settings(*built_in.config, *from_file.config).empty());
  ASSERT_EQ(from_file.config->namespaces.size(), 1U);
  EXPECT_EQ(from_file.config->namespaces[0].name, built_in.config->namespaces[0].name);
  EXPECT_EQ(from_file.config->namespaces[0].owner_uids, built_in.config->namespaces[0].owner_uids);
  for (const auto& row : namespace_table())
    EXPECT_TRUE(has(read_default_file(), std::string(row.info.path) + ": ")) << row.info.path;
}

// A second value of the row's type, to see each setting arrive.
std::string other_value(const SettingInfo& info) {
  switch (info.type) {
    case SettingType::kSize:
      return "2GiB";
    case SettingType::kCount:
      return info.path == "index.blocks_max" ? "1000000" : "3";  // not below the blocks of a slab
    case SettingType::kPercent:
      return "33%";
    case SettingType::kBool:
      return "true";
    case SettingType::kChoice:
      return std::string(info.choices.substr(info.choices.rfind('|') + 1));
    case SettingType::kPath:
      return "/other/path-" + std::string(info.path);
    case SettingType::kText:
      return "gpu";  // a group of FixedIdentities
    default:
      return "other";
  }
}

TEST(SettingsTable, EverySettingIsSetByAFlagAndDescribed) {
  const ConfigLoad defaults = load_config({}, FixedIdentities());
  for (std::size_t i = 0; i < settings_table().size(); ++i) {
    const SettingInfo& info = settings_table()[i].info;
    const std::string text = other_value(info);
    // Slabs of 2 GiB need more than the default host tier.
    const ConfigLoad load = load_text("", {"host.bytes=4GiB", std::string(info.path) + "=" + text});
    ASSERT_TRUE(load.is_ok()) << load.status().to_string();
    EXPECT_EQ(load.config->effective[i].value.text, text);
    EXPECT_EQ(load.config->effective[i].source, SettingSource::kFlag);
    const bool is_changed = text != info.default_text;
    std::size_t hits = 0;
    for (const SettingChange& change : changed_settings(*defaults.config, *load.config))
      hits += change.path == info.path && change.after == text;
    EXPECT_EQ(hits, is_changed ? 1U : 0U) << info.path;
    const ConfigRow row = describe(*load.config)[i];
    EXPECT_EQ(row.path, info.path);
    EXPECT_EQ(row.value, text);
    EXPECT_EQ(row.source, "flag --set");
  }
}

// A setting that nobody reads is a promise that nobody keeps. Config is handed out as `config` and `config_`.
TEST(SettingsTable, EveryMemberIsReadByTheDaemon) {
  std::string readers;
  for (const auto& file : std::filesystem::directory_iterator(KVTIER_SOURCE_DIR "/daemon/app"))
    if (file.path().extension() == ".cc") readers += read_file(file.path());
  const std::string table = read_file(KVTIER_SOURCE_DIR "/daemon/config/settings_table.cc");
  const std::string rows = table.substr(0, table.find("kNamespaceSettings"));
  const std::regex stored(R"((?:INTO\(|config\.)([a-z_.]+)(?:\)\}| = value))");
  std::size_t members = 0;
  for (std::sregex_iterator match(rows.begin(), rows.end(), stored), end; match != end; ++match, ++members) {
    const std::string member = (*match)[1];
    EXPECT_TRUE(readers.find("config." + member) != std::string::npos ||
                readers.find("config_->" + member) != std::string::npos)
        << member;
  }
  EXPECT_EQ(members, settings_table().size());
}

TEST(SettingsTable, ValuesReachTheirMembers) {
  const ConfigLoad load = load_text(
      "instance: a1\nruntime_dir: /r\nsocket: /r/s\nadmin_socket: /r/a\nsocket_group: kv\nadmin_group: adm\n"
      "host:\n  bytes: 5GiB\n  slab_bytes: 1GiB\n  huge_pages: off\n  lock: require\n  low_water_blocks: 7\n"
      "  headroom: 1GB\nindex:\n  blocks_max: 1000000\nlimits:\n  clients_max: 9\n  namespaces_max: 8\n"
      "  spaces_max: 7\n  pinned_fraction_client: 11%\n  pinned_fraction_namespace: 22%\n"
      "conductor:\n  spin_us: 3\n"
      "nvme:\n  paths: [{dir: /n/a, bytes: 2GiB}]\n  backend: posix\n  direct: off\n  write_policy: through\n"
      "  write_budget_bytes_per_day: 1TiB\n  recover: behind\n  segment_bytes: 64MiB\n  io_deadline_ms: 700\n"
      "  headroom: 3GiB\n  home: moved\n  missing: give_up\n"
      "log:\n  level: debug\n  target: journal\n  json: true\n");
  ASSERT_TRUE(load.is_ok()) << load.status().to_string();
  const Config& config = *load.config;
  EXPECT_EQ(config.instance + config.runtime_dir + config.socket + config.admin_socket, "a1/r/r/s/r/a");
  EXPECT_EQ(config.socket_group + config.admin_group, "kvadm");
  EXPECT_EQ(config.host.bytes, 5ULL << 30);  // report U-01: 5 GiB is 5 GiB
  EXPECT_EQ(config.host.slab_bytes, 1ULL << 30);
  EXPECT_EQ(config.host.huge_pages, Need::kOff);
  EXPECT_EQ(config.host.lock, Need::kRequire);
  EXPECT_EQ(config.host.low_water_blocks, 7U);
  EXPECT_EQ(config.host.headroom_bytes, 1'000'000'000U);
  EXPECT_EQ(config.index.blocks_max, 1'000'000U);
  ASSERT_EQ(config.nvme.paths.size(), 1U);
  EXPECT_EQ(config.nvme.paths[0].dir, "/n/a");
  EXPECT_EQ(config.nvme.paths[0].bytes, 2ULL << 30);
  EXPECT_EQ(config.nvme.backend, NvmeBackend::kPosix);
  EXPECT_EQ(config.nvme.direct, NvmeDirect::kOff);
  EXPECT_EQ(config.nvme.write_policy, NvmeWritePolicy::kThrough);
  EXPECT_EQ(config.nvme.write_budget_bytes_per_day, 1ULL << 40);
  EXPECT_EQ(config.nvme.recover, NvmeRecover::kBehind);
  EXPECT_EQ(config.nvme.segment_bytes, 64ULL << 20);
  EXPECT_EQ(config.nvme.headroom_bytes, 3ULL << 30);
  EXPECT_EQ(config.nvme.io_deadline_ns, 700'000'000U);
  EXPECT_EQ(config.nvme.home, NvmeHome::kMoved);
  EXPECT_EQ(config.nvme.missing, NvmeMissing::kGiveUp);
  EXPECT_EQ(config.limits.clients_max, 9U);
  EXPECT_EQ(config.limits.namespaces_max, 8U);
  EXPECT_EQ(config.limits.spaces_max, 7U);
  EXPECT_EQ(config.limits.pinned_percent_client, 11U);
  EXPECT_EQ(config.limits.pinned_percent_namespace, 22U);
  EXPECT_EQ(config.conductor.spin_ns, 3000U);
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
  EXPECT_EQ(config.log.target, LogTarget::kJournal);
  EXPECT_TRUE(config.log.is_json);
}

}  // namespace
}  // namespace kvtier
