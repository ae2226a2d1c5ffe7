#include "daemon/session/namespace_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace kvtier {
namespace {

Peer stranger(std::uint32_t uid, std::vector<std::uint32_t> groups = {}) {
  return {.pid = 1, .uid = uid, .gid = 70000, .groups = std::move(groups)};
}

std::vector<NamespaceConfig> rules() {
  NamespaceConfig closed;
  closed.name = "closed";
  NamespaceConfig team;
  team.name = "team";
  team.owner_uids = {60001};
  team.group_gids = {60100};
  team.reader_uids = {60002};
  return {closed, team};
}

TEST(NamespaceAccessTest, owners_and_groups_write_readers_read) {
  const std::vector<NamespaceConfig> all = rules();
  EXPECT_FALSE(find_access(all, "team", stranger(60001)).value().is_read_only);
  EXPECT_FALSE(find_access(all, "team", stranger(60009, {60100})).value().is_read_only);
  EXPECT_TRUE(find_access(all, "team", stranger(60002)).value().is_read_only);
  EXPECT_FALSE(find_access(all, "team", stranger(60002, {60100})).value().is_read_only)
      << "the wider right holds";
}

TEST(NamespaceAccessTest, primary_group_counts) {
  Peer peer = stranger(60009);
  peer.gid = 60100;
  EXPECT_TRUE(find_access(rules(), "team", peer).is_ok());
}

TEST(NamespaceAccessTest, others_are_denied_by_name_and_uid) {
  const Result<NamespaceAccess> denied = find_access(rules(), "team", stranger(60003));
  EXPECT_EQ(denied.code(), Code::kDenied);
  EXPECT_NE(denied.status().message().find("uid 60003 may not use namespace \"team\""), std::string::npos);
  EXPECT_EQ(find_access(rules(), "absent", stranger(60001)).code(), Code::kNotFound);
}

TEST(NamespaceAccessTest, without_rules_only_root_and_the_daemons_user) {
  EXPECT_EQ(find_access(rules(), "closed", stranger(60001)).code(), Code::kDenied);
  EXPECT_TRUE(find_access(rules(), "closed", stranger(0)).is_ok());
  EXPECT_TRUE(find_access(rules(), "closed", stranger(::geteuid())).is_ok());
}

}  // namespace
}  // namespace kvtier
