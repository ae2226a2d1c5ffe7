// The files under systemd/: what they must say, and what systemd itself thinks of them where it is installed.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

std::string unit_path(const std::string& name) {
  return std::string(KVTIER_SOURCE_DIR) + "/systemd/" + name;
}

// "Section.Key" -> values, comments left out.
std::multimap<std::string, std::string> parse_unit(const std::string& text) {
  std::multimap<std::string, std::string> values;
  std::istringstream lines(text);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '[') {
      section = line.substr(1, line.find(']') - 1);
      continue;
    }
    const std::size_t equals = line.find('=');
    EXPECT_NE(equals, std::string::npos) << line;
    values.emplace(section + "." + line.substr(0, equals), line.substr(equals + 1));
  }
  return values;
}

std::string one(const std::multimap<std::string, std::string>& unit, const std::string& key) {
  const auto found = unit.find("Service." + key);
  return found == unit.end() ? "(absent)" : found->second;
}

std::string tool(const std::string& name) {
  for (const std::string dir : {"/usr/bin/", "/bin/"}) {
    if (::access((dir + name).c_str(), X_OK) == 0) return dir + name;
  }
  return {};
}

TEST(Units, the_service_says_what_the_daemon_relies_on) {
  const auto unit = parse_unit(read_file(unit_path("kvtierd.service")));
  EXPECT_EQ(one(unit, "Type"), "notify");
  EXPECT_EQ(one(unit, "RestartPreventExitStatus"), "2 3 4");
  EXPECT_EQ(one(unit, "Restart"), "on-failure");
  EXPECT_EQ(one(unit, "LimitMEMLOCK"), "infinity");
  EXPECT_EQ(one(unit, "RuntimeDirectoryMode"), "0750");
  EXPECT_EQ(one(unit, "User"), "kvtier");
  EXPECT_GE(std::stoul(one(unit, "FileDescriptorStoreMax")), 16384u);
  EXPECT_GE(std::stoul(one(unit, "LimitNOFILE")), 65536u);
  EXPECT_NE(one(unit, "WatchdogSec"), "(absent)");
}

TEST(Units, the_service_has_nothing_that_breaks_shared_memory_or_devices) {
  const auto unit = parse_unit(read_file(unit_path("kvtierd.service")));
  for (const char* key :
       {"PrivateIPC", "DynamicUser", "PrivateDevices", "PrivateUsers", "ProcSubset", "RemoveIPC"})
    EXPECT_EQ(one(unit, key), "(absent)");
  EXPECT_EQ(one(unit, "NoNewPrivileges"), "yes");
  EXPECT_EQ(one(unit, "ProtectSystem"), "strict");
}

TEST(Units, systemd_verifies_the_service) {
  const std::string analyze = tool("systemd-analyze");
  if (analyze.empty()) GTEST_SKIP() << "no systemd-analyze here";
  const ScratchDir dir;
  std::string text = read_file(unit_path("kvtierd.service"));
  const std::string installed = "/usr/bin/kvtierd";
  text.replace(text.find(installed), installed.size(), program("kvtierd"));
  std::ofstream(dir.file("kvtierd.service")) << text;
  ChildProcess verify({.command = {analyze, "verify", "--man=no", dir.file("kvtierd.service")},
                       .environment = {},
                       .output_path = dir.file("output"),
                       .uid = 0});
  const int code = verify.wait();
  const std::string output = read_file(dir.file("output"));
  EXPECT_EQ(code, 0) << output;
  EXPECT_EQ(output.find("kvtierd.service"), std::string::npos) << output;
}

TEST(Units, S07_a_system_account_and_its_directories) {
  const std::string sysusers = tool("systemd-sysusers");
  const std::string tmpfiles = tool("systemd-tmpfiles");
  if (sysusers.empty() || tmpfiles.empty() || ::geteuid() != 0)
    GTEST_SKIP() << "needs systemd's tools and root";
  const ScratchDir root;
  for (const char* name : {"etc", "run"}) ::mkdir(root.file(name).c_str(), 0755);
  ChildProcess users({.command = {sysusers, "--root=" + root.path(), unit_path("kvtier.sysusers.conf")},
                      .environment = {},
                      .output_path = root.file("output"),
                      .uid = 0});
  EXPECT_EQ(users.wait(), 0) << read_file(root.file("output"));
  const std::string passwd = read_file(root.file("etc/passwd"));
  ASSERT_NE(passwd.find("kvtier:x:"), std::string::npos) << passwd;
  const int uid = std::atoi(passwd.c_str() + passwd.find("kvtier:x:") + 9);
  EXPECT_GT(uid, 0);
  EXPECT_LT(uid, 1000) << "a system account: RemoveIPC does not touch it";
  ChildProcess directories(
      {.command = {tmpfiles, "--create", "--root=" + root.path(), unit_path("kvtier.tmpfiles.conf")},
       .environment = {},
       .output_path = root.file("output"),
       .uid = 0});
  EXPECT_EQ(directories.wait(), 0) << read_file(root.file("output"));
  struct stat info {};
  ASSERT_EQ(::stat(root.file("run/kvtier").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0750u);
  EXPECT_EQ(info.st_uid, static_cast<uid_t>(uid));
}

}  // namespace
}  // namespace kvtier::test
