#include "tests/unit/config/config_fixture.h"

namespace kvtier {
namespace {

using Ids = std::vector<std::uint32_t>;

TEST(Namespaces, DefaultIsOpenToOwnUserAndRoot) {
  const ConfigLoad load = load_text("");
  ASSERT_TRUE(load.is_ok());
  ASSERT_EQ(load.config->namespaces.size(), 1U);
  EXPECT_EQ(load.config->namespaces[0].name, "default");
  EXPECT_EQ(load.config->namespaces[0].owner_uids, (Ids{990, 0}));
}

TEST(Namespaces, NamesAndNumbersBecomeIds) {
  const ConfigLoad load = load_text(
      "namespaces:\n  - name: a\n    owners: [vllm, 1234]\n    groups: [gpu]\n    readers: [sglang]\n"
      "    host_bytes_max: 512MiB\n  - {name: b}\n");
  ASSERT_TRUE(load.is_ok()) << load.status().to_string();
  ASSERT_EQ(load.config->namespaces.size(), 2U);
  const NamespaceConfig& a = load.config->namespaces[0];
  EXPECT_EQ(a.owner_uids, (Ids{1001, 1234}));
  EXPECT_EQ(a.group_gids, (Ids{44}));
  EXPECT_EQ(a.reader_uids, (Ids{1002}));
  EXPECT_EQ(a.host_bytes_max, 512U << 20);
  EXPECT_EQ(load.config->namespaces[1].owner_uids, (Ids{990, 0}));
}

// Someone who lists readers only does not open the namespace to anybody else.
TEST(Namespaces, ExplicitRulesAreNotWidened) {
  const ConfigLoad load = load_text("namespaces:\n  - {name: a, readers: [vllm]}\n");
  ASSERT_TRUE(load.is_ok());
  EXPECT_TRUE(load.config->namespaces[0].owner_uids.empty());
}

TEST(Namespaces, MistakesNameEntryAndLine) {
  EXPECT_TRUE(has(errors_of("namespaces:\n  - name: a\n    owners: [ghost]\n"),
                  "t.yaml:3: namespaces[0].owners: \"ghost\" is no user of this host"));
  EXPECT_TRUE(has(errors_of("namespaces:\n  - name: a\n    group: [gpu]\n"),
                  "t.yaml:3: namespaces[0].group: unknown setting; did you mean groups?"));
  EXPECT_TRUE(has(errors_of("namespaces:\n  - name: a\n    owners: vllm\n"), "is not a list"));
  EXPECT_TRUE(
      has(errors_of("namespaces:\n  - owners: [vllm]\n"), "t.yaml:2: namespaces[0].name: is missing"));
  EXPECT_TRUE(has(errors_of("namespaces:\n  - name: a\n  - name: a\n"), "\"a\" is used twice"));
  EXPECT_TRUE(has(errors_of("namespaces:\n  - just_a_name\n"), "has an entry that is not a map"));
  EXPECT_TRUE(has(errors_of("namespaces: []\n"), "is not a list of namespaces"));
  EXPECT_TRUE(has(errors_of("namespaces: default\n"), "is not a list of namespaces"));
  EXPECT_TRUE(has(errors_of("namespaces:\n"), "is not a list of namespaces"));
  EXPECT_TRUE(has(errors_of("namespaces:\n  - name: a\n    host_bytes_max: 5\n"), "needs a unit"));
}

TEST(Namespaces, NumbersThatAreNoIdsAreRefused) {
  for (const char* id : {"010", "0x10", "-1", "4294967295", "4294967296", "1_000", "~", "''", "[1]"})
    EXPECT_NE(errors_of("namespaces:\n  - name: a\n    owners: [" + std::string(id) + "]\n"), "") << id;
}

}  // namespace
}  // namespace kvtier
