// kvctl probe: what it measures, and that what it prints is a configuration.

#include <gtest/gtest.h>

#include <fstream>

#include "daemon/io/headroom.h"
#include "libkvclient/base/units.h"
#include "tests/support/scratch_dir.h"
#include "tests/unit/kvctl/in_process.h"
#include "tools/kvctl/probe_config.h"

namespace kvtier::test {
namespace {

using ctl::DiskProbe;
using Json = nlohmann::json;

DiskProbe disk(const std::string& folder, std::uint64_t free_bytes, std::uint64_t device) {
  return {.path = {.folder = folder}, .free_bytes = free_bytes, .device = device};
}

// What config check says of this text: setting to value.
std::map<std::string, std::string> checked(const std::string& yaml) {
  const ScratchDir dir;
  std::ofstream(dir.file("c.yaml")) << yaml;
  const Said said = run_kvctl({"--json", "config", "check", dir.file("c.yaml")});
  EXPECT_EQ(said.status, 0) << said.text << yaml;
  std::map<std::string, std::string> settings;
  const Json json = said.json();
  for (const Json& row : json["config"]) settings[row["path"]] = row["value"];
  return settings;
}

TEST(ProbeConfig, FoldersOfAnyNameAreSettings) {
  for (const char* folder :
       {"/mnt/a", "/mnt/with space", "/mnt/#1: [x], {y}", "/mnt/\"quoted\"", "/mnt/ü", "/mnt/'"}) {
    const auto settings = checked(ctl::nvme_config({disk(folder, 100 * kGiB, 1)}));
    EXPECT_EQ(settings.at("nvme.paths[0].dir"), folder);
    EXPECT_EQ(settings.at("nvme.paths[0].bytes"), "90 GiB");
  }
}

TEST(ProbeConfig, FoldersOfOneFileSystemShareIt) {
  const std::vector<DiskProbe> disks = {disk("/a", 100 * kGiB, 1), disk("/b", 100 * kGiB, 1),
                                        disk("/c", 10 * kGiB, 2)};
  const std::vector<ctl::PathShare> shares = ctl::share_space(disks);
  EXPECT_EQ(shares[0].bytes, 45 * kGiB);
  EXPECT_EQ(shares[1].bytes, 45 * kGiB);
  EXPECT_EQ(shares[2].bytes, 9 * kGiB);
  EXPECT_EQ(checked(ctl::nvme_config(disks)).at("nvme.segment_bytes"), "128MiB") << "of the smallest";
}

// What is printed fits beside the room that the daemon leaves free by itself.
TEST(ProbeConfig, WhatTheDaemonLeavesFreeIsNotGivenAway) {
  DiskProbe small = disk("/a", 340 * kMiB, 1);
  small.file_system_bytes = 364 * kMiB;
  const std::uint64_t bytes = ctl::share_space({small})[0].bytes;
  EXPECT_GT(bytes, 200 * kMiB);
  EXPECT_LE(bytes, small.free_bytes - headroom_default(small.file_system_bytes));
}

// Its file may not become smaller.
TEST(ProbeConfig, AStoreKeepsWhatItHas) {
  DiskProbe full = disk("/a", kMiB, 1);
  full.store_bytes = 50 * kGiB + 12345;
  EXPECT_GE(ctl::share_space({full})[0].bytes, full.store_bytes);
}

TEST(ProbeConfig, AFolderWithoutRoomIsLeftOut) {
  EXPECT_EQ(ctl::nvme_config({disk("/a", 10 * kMiB, 1)}), "nvme:\n  paths: []\n");
  const auto settings = checked(ctl::nvme_config({disk("/a", 10 * kMiB, 1), disk("/b", kGiB, 2)}));
  EXPECT_EQ(settings.at("nvme.paths[0].dir"), "/b");
  EXPECT_FALSE(settings.contains("nvme.paths[1].dir"));
  EXPECT_NO_FATAL_FAILURE(checked(ctl::nvme_config({})));
}

// The real thing, for a second: its YAML is a configuration, and it leaves nothing behind.
TEST(Probe, MeasuresAFolderAndPrintsAConfiguration) {
  const ScratchDir dir;
  const Said text = run_kvctl({"probe", "--path", dir.path(), "--path", dir.path() + "/.", "--seconds", "1"});
  ASSERT_EQ(text.status, 0) << text.message;
  const auto settings = checked(text.text);
  EXPECT_EQ(settings.at("nvme.paths[0].dir"), dir.path());
  EXPECT_FALSE(settings.contains("nvme.paths[1].dir")) << "each folder once";
  EXPECT_NE(text.text.find("# no GPU"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(Probe, JsonIsOneObject) {
  const ScratchDir dir;
  const Said said = run_kvctl({"--json", "probe", "--path", dir.path(), "--seconds", "1"});
  ASSERT_EQ(said.status, 0) << said.message;
  const Json json = said.json();
  ASSERT_TRUE(json.is_object()) << said.text;
  EXPECT_GT(json["memory"]["copy_bytes_per_second"], 0);
  EXPECT_EQ(json["gpu"]["present"], false);
  const Json& path = json["paths"][0];
  EXPECT_EQ(path["rates"].size(), 12U);
  for (const Json& rate : path["rates"]) EXPECT_GT(rate["bytes_per_second"], 0) << rate;
  EXPECT_GE(path["bytes_tried"], 64 * kMiB);
  EXPECT_EQ(checked(json["config"]).at("nvme.paths[0].dir"), dir.path());
}

TEST(Probe, AFolderThatIsNotThereIsNamed) {
  const ScratchDir dir;
  const Said said = run_kvctl({"probe", "--path", dir.file("missing")});
  EXPECT_EQ(said.status, 3);
  EXPECT_EQ(said.code, "not_found");
  EXPECT_NE(said.message.find(dir.file("missing")), std::string::npos) << said.message;
  EXPECT_TRUE(said.text.empty());
  std::ofstream(dir.file("file")) << "x";
  EXPECT_EQ(run_kvctl({"probe", "--path", dir.file("file")}).code, "not_found");
  EXPECT_EQ(run_kvctl({"probe", "--seconds", "0"}).status, 64);
}

}  // namespace
}  // namespace kvtier::test
