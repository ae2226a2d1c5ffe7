// Who may connect, use a namespace, administer: other users, by the real daemon, the client library and
// kvctl.

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "tests/system/cache_client.h"
#include "tests/system/daemon_fixture.h"
#include "tests/system/wire_client.h"

namespace kvtier::test {
namespace {

constexpr gid_t kEngines = 60100;  ///< may connect
constexpr gid_t kAdmins = 60101;
constexpr uid_t kOwner = 60001;
constexpr uid_t kReader = 60002;
constexpr uid_t kOther = 60003;

constexpr const char* kConfig =
    "socket_group: \"60100\"\n"
    "admin_group: \"60101\"\n"
    "namespaces:\n"
    "  - name: default\n"
    "  - name: team\n"
    "    owners: [60001]\n"
    "    readers: [60002]\n";

class AccessTest : public DaemonTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "other users need root";
    place_.write_config(kConfig);
    ASSERT_TRUE(start()) << place_.output();
  }
  // The body's value, run as another user.
  template <class Body>
  static int as(uid_t uid, gid_t gid, Body body) {
    const pid_t child = in_child([&] {
      if (::setgroups(1, &gid) != 0 || ::setgid(gid) != 0 || ::setuid(uid) != 0) return 125;
      return body();
    });
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  int open_as(uid_t uid, gid_t gid, const std::string& namespace_name) {
    return as(uid, gid, [&] {
      return CacheClient({.socket = place_.socket(), .namespace_name = namespace_name}).code();
    });
  }
};

TEST_F(AccessTest, S14_without_the_sockets_group_nobody_connects) {
  EXPECT_EQ(as(kOwner, 60999, [&] { return connect_to(place_.socket(), SOCK_SEQPACKET).is_open() ? 1 : 0; }),
            0);
  EXPECT_EQ(open_as(kOwner, 60999, "team"), KVC_DENIED);
  EXPECT_EQ(as(kOwner, 60999,
               [&] {
                 const CacheClient client({.socket = place_.socket(), .namespace_name = "team"});
                 return client.error().find("a member of the group that owns it") == std::string::npos ? 1
                                                                                                       : 0;
               }),
            0);
}

TEST_F(AccessTest, a_namespace_is_for_those_whom_the_configuration_names) {
  EXPECT_EQ(open_as(kOwner, kEngines, "team"), KVC_OK);
  EXPECT_EQ(open_as(kOther, kEngines, "team"), KVC_DENIED);
  EXPECT_EQ(open_as(kOwner, kEngines, "default"), KVC_DENIED) << "no rules: the daemon's user and root only";
  EXPECT_EQ(open_as(kOwner, kEngines, "absent"), KVC_NOT_FOUND);
  EXPECT_EQ(open_as(0, 0, "team"), KVC_OK);
}

TEST_F(AccessTest, a_reader_reads_and_does_not_write) {
  CacheClient owner({.socket = place_.socket(), .namespace_name = "team"});
  ASSERT_EQ(owner.store(1, 0, 4), 4u) << owner.error();
  const int outcome = as(kReader, kEngines, [&] {
    CacheClient reader({.socket = place_.socket(), .namespace_name = "team"});
    if (reader.code() != KVC_OK) return 10;
    const CacheClient::Read read = reader.read(1, 4);
    if (read.blocks != 4 || read.wrong_blocks != 0) return 11;
    return reader.store(2, 0, 1) == 0 ? 0 : 12;
  });
  EXPECT_EQ(outcome, 0);
  EXPECT_EQ(owner.match(2, 1), 0u);
}

TEST_F(AccessTest, a_readers_descriptors_cannot_be_mapped_for_writing) {
  CacheClient owner({.socket = place_.socket(), .namespace_name = "team"});
  ASSERT_EQ(owner.store(1, 0, 4), 4u) << owner.error();
  const int outcome = as(kReader, kEngines, [&] {
    const Result<std::unique_ptr<WireClient>> client = WireClient::open(place_.socket(), "team");
    if (!client.is_ok()) return 10;
    if ((client.value()->welcome().flags & kWelcomeReadOnly) == 0) return 11;
    const Result<Message> slab = receive_within(client.value()->socket(), kPatienceNs);
    if (!slab.is_ok() || slab.value().header().type != MessageType::kSlabAdd) return 12;
    SlabAdd add{};
    (void)slab.value().read(add);
    if (ShmMapping::map(slab.value().fds[0].get(), add.slab_bytes, ShmAccess::kReadWrite).is_ok()) return 13;
    // The way around: a new descriptor of the same memory. The memfd's mode 0600 and owner forbid it.
    const std::string path = "/proc/self/fd/" + std::to_string(slab.value().fds[0].get());
    return ::open(path.c_str(), O_RDWR) < 0 ? 0 : 14;
  });
  EXPECT_EQ(outcome, 0);
}

TEST_F(AccessTest, reloading_gives_and_takes_rights) {
  EXPECT_EQ(open_as(kOther, kEngines, "team"), KVC_DENIED);
  std::string changed = kConfig;
  changed.replace(changed.find("[60001]"), 7, "[60003]");
  place_.write_config(changed);
  daemon_->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return open_as(kOther, kEngines, "team") == KVC_OK; }));
  EXPECT_EQ(open_as(kOwner, kEngines, "team"), KVC_DENIED);
}

TEST_F(AccessTest, a_wrong_reload_keeps_what_holds) {
  place_.write_config("namespaces: 7\n");
  daemon_->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return place_.output().find("reload refused") != std::string::npos; }));
  EXPECT_EQ(open_as(kOwner, kEngines, "team"), KVC_OK);
}

TEST_F(AccessTest, S14_administration_is_for_the_admin_group) {
  EXPECT_EQ(kvctl({"status"}, {kOther, {kEngines, kAdmins}}), 0) << said();
  EXPECT_EQ(kvctl({"flush", "--all"}, {kOther, {kEngines, kAdmins}}), 0) << said();
  EXPECT_EQ(kvctl({"status"}, {kOwner, {kEngines}}), 4) << said();
  EXPECT_EQ(kvctl({"flush", "--all"}, {kOwner, {kEngines}}), 4) << said();
}

}  // namespace
}  // namespace kvtier::test
