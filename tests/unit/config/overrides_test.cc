#include "daemon/config/overrides.h"

#include <algorithm>

#include "daemon/config/describe.h"
#include "daemon/config/reload.h"
#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

ConfigRow row_of(const ConfigLoad& load, const std::string& path) {
  for (const ConfigRow& row : describe(*load.config))
    if (row.path == path) return row;
  return {};
}

// Report U-03: effective values, each with its source.
TEST(Overrides, LaterSourcesWinAndAreNamed) {
  const std::string file = "host:\n  bytes: 2GiB\n  headroom: 1GiB\n  lock: off\n";
  const ConfigLoad load =
      load_text(file, {"host.bytes=4GiB"}, {"KVTIER_HOST_BYTES=3GiB", "KVTIER_HOST_HEADROOM=2GiB"});
  ASSERT_TRUE(load.is_ok()) << load.status().to_string();
  EXPECT_EQ(load.config->host.bytes, 4ULL << 30);
  EXPECT_EQ(row_of(load, "host.bytes").source, "flag --set");
  EXPECT_EQ(row_of(load, "host.headroom").source, "environment KVTIER_HOST_HEADROOM");
  EXPECT_EQ(row_of(load, "host.lock").source, "file t.yaml:4");
  EXPECT_EQ(row_of(load, "host.huge_pages").source, "default");
}

TEST(Overrides, LastFlagWins) {
  const ConfigLoad load = load_text("", {"host.bytes=4GiB", "host.bytes=5GiB"});
  ASSERT_TRUE(load.is_ok());
  EXPECT_EQ(load.config->host.bytes, 5ULL << 30);
}

TEST(Overrides, WrongFlagsSayHow) {
  EXPECT_EQ(errors_of("", {"host.byte=1GiB"}), "--set: host.byte: unknown setting; did you mean host.bytes?");
  EXPECT_TRUE(has(errors_of("", {"host.bytes"}), "has no value; write --set host.bytes=4GiB"));
  EXPECT_TRUE(has(errors_of("", {"=4"}), "has no value"));
  EXPECT_TRUE(has(errors_of("", {"host.bytes=4"}), "--set: host.bytes: \"4\": needs a unit"));
  EXPECT_TRUE(has(errors_of("", {"namespaces=x"}), "write namespaces in the file"));
}

TEST(Overrides, MisspeltVariableIsAnErrorAForeignOneAWarning) {
  EXPECT_TRUE(has(errors_of("", {}, {"KVTIER_HOST_BYTE=1GiB"}), "did you mean KVTIER_HOST_BYTES?"));
  const ConfigLoad load = load_text("", {}, {"KVTIER_CONFIG=/x.yaml", "PATH=/bin", "KVTIER_FAULTS=x=fail"});
  EXPECT_TRUE(load.is_ok());
  ASSERT_EQ(load.warnings.size(), 1U);
  EXPECT_TRUE(has(to_string(load.warnings), "KVTIER_CONFIG: no setting has this variable"));
}

TEST(Overrides, EachValidNameIsListedOnce) {
  const std::string errors = errors_of("zzzzzzzzzzzzzzzz: 1\n");
  ASSERT_TRUE(has(errors, "valid names are "));
  EXPECT_EQ(errors.find(" host,"), errors.rfind(" host,"));
}

// Nothing but what changes at run time: the rest is in force until the restart.
TEST(Overrides, AReloadTakesOverLiveSettingsOnly) {
  const ConfigLoad before = load_text("");
  const ConfigLoad after =
      load_text("host:\n  bytes: 2GiB\n  low_water_blocks: 3\nnamespaces:\n  - {name: a}\n");
  ASSERT_TRUE(after.is_ok());
  const std::shared_ptr<const Config> now = with_live_settings(*before.config, *after.config);
  EXPECT_EQ(now->host.bytes, before.config->host.bytes);
  EXPECT_EQ(now->host.low_water_blocks, 3U);
  EXPECT_EQ(now->namespaces[0].name, "a");
  const std::vector<SettingChange> open = changed_settings(*now, *after.config);
  ASSERT_EQ(open.size(), 1U);
  EXPECT_EQ(open[0].path, "host.bytes");
  EXPECT_EQ(open[0].before, "1GiB");
  EXPECT_EQ(open[0].after, "2GiB");
}

TEST(Overrides, AReloadTellsWhatChangesInNamespaces) {
  const ConfigLoad before = load_text("namespaces:\n  - {name: a, owners: [vllm]}\n  - {name: b}\n");
  const ConfigLoad after =
      load_text("namespaces:\n  - {name: a, owners: [vllm], host_bytes_max: 512MiB}\n  - {name: c}\n");
  const std::vector<SettingChange> changes = changed_settings(*before.config, *after.config);
  const auto has_change = [&](const std::string& path, const std::string& from, const std::string& to) {
    return std::ranges::any_of(changes, [&](const SettingChange& each) {
      return each.path == path && each.before == from && each.after == to && each.reload == Reload::kLive;
    });
  };
  EXPECT_TRUE(has_change("namespaces.a.host_bytes_max", "0 B", "512 MiB"));
  EXPECT_TRUE(has_change("namespaces.b.name", "b", ""));
  EXPECT_TRUE(has_change("namespaces.c.name", "", "c"));
  EXPECT_FALSE(has_change("namespaces.a.owners", "[1001]", "[1001]"));
  EXPECT_TRUE(changed_settings(*after.config, *after.config).empty());
}

TEST(Overrides, EnvironmentNameFollowsThePath) {
  EXPECT_EQ(environment_name("host.low_water_blocks"), "KVTIER_HOST_LOW_WATER_BLOCKS");
}

}  // namespace
}  // namespace kvtier
