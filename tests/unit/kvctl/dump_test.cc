// kvctl dump over the files of a store that a simulated disk made.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "daemon/disk/format_seal.h"
#include "libkvclient/base/unique_fd.h"
#include "tests/support/scratch_dir.h"
#include "tests/support/sim_store.h"
#include "tests/unit/kvctl/in_process.h"

namespace kvtier::test {
namespace {

using Json = nlohmann::json;

class Dump : public testing::Test {
 protected:
  void open() {
    sim_ = std::make_unique<SimStore>(disk_, small_sim_options());
    ASSERT_TRUE(sim_->open()) << sim_->store().status().to_string();
  }
  void put(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t i = first; i < first + count; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  }
  void end() {
    sim_->close();
    ASSERT_TRUE(sim_->settle());
    sim_.reset();
  }
  std::vector<std::byte>& image() { return disk_.image(disk_.open("path0")); }
  void write(std::span<const std::byte> bytes) const {
    std::ofstream file(dir_.file("kvtier.data"), std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  Said dump(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--json", "dump", dir_.path()});
    return run_kvctl(more);
  }
  [[nodiscard]] UniqueFd data(int flags = O_RDONLY) const {
    return UniqueFd(::open(dir_.file("kvtier.data").c_str(), flags | O_CLOEXEC));
  }

  ScratchDir dir_;
  SimDisk disk_{1};
  std::unique_ptr<SimStore> sim_;
};

std::uint64_t sum(const Json& rows, const char* field) {
  std::uint64_t total = 0;
  for (const Json& row : rows) total += row[field].get<std::uint64_t>();
  return total;
}

std::uint64_t count_state(const Json& segments, const std::string& state) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(segments, [&](const Json& each) { return each["state"] == state; }));
}

// Two copies of some keys, and a mark: LIVE is what the next start finds.
TEST_F(Dump, says_what_lives_as_the_next_start_does) {
  open();
  put(0, 20);
  put(0, 5);
  ASSERT_EQ(sim_->mark_now(sim_key(9)), Code::kOk);
  end();
  write(image());
  const Said said = dump({"--records", "--check"});
  ASSERT_EQ(said.status, 0) << said.message << said.text;
  const Json json = said.json();
  const Json& path = json["paths"][0];
  EXPECT_EQ(path["epoch"], path["closed_epoch"]);
  EXPECT_EQ(path["superblock_copies"], Json::array({"ok", "ok", "ok", "ok"}));
  EXPECT_EQ(json["faults"], Json::object());
  EXPECT_EQ(sum(path["segments"], "blocks"), 25U);
  EXPECT_EQ(sum(path["segments"], "blocks_live"), 19U);
  EXPECT_EQ(sum(json["spaces"], "marks"), sum(path["segments"], "marks"));
  EXPECT_EQ(count_state(path["segments"], "unsealed"), 0U);
  open();
  std::set<std::string> live;
  std::set<std::uint64_t> sequences;
  for (const Json& record : json["records"]) {
    if (record["kind"] != "block" || !record["live"].get<bool>()) continue;
    live.insert(record["key"]);
    sequences.insert(record["sequence"].get<std::uint64_t>());
    EXPECT_EQ(record["fault"], "ok");
    EXPECT_EQ(record["block_bytes"], kSimBlockBytes);
  }
  EXPECT_EQ(live.size(), sim_->index().size());
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(live.contains(to_hex(sim_key(i).key)), i != 9) << i;
    const auto found = sim_->find(sim_key(i));
    EXPECT_TRUE(i == 9 || sequences.contains(found->sequence)) << i;
  }
}

// As a kill leaves it: found by headers.
TEST_F(Dump, reads_a_segment_that_was_not_sealed) {
  open();
  put(0, 7);
  write(image());
  const Said said = dump({"--check"});
  ASSERT_EQ(said.status, 0) << said.message << said.text;
  const Json path = said.json()["paths"][0];
  EXPECT_NE(path["epoch"], path["closed_epoch"]);
  EXPECT_EQ(count_state(path["segments"], "unsealed"), 1U);
  EXPECT_EQ(sum(path["segments"], "blocks_live"), 7U);
}

TEST_F(Dump, writes_no_byte_and_touches_no_time) {
  open();
  put(0, 30);
  write(image());
  struct stat before {};
  struct stat after {};
  ASSERT_EQ(::fstat(data().get(), &before), 0);
  ASSERT_EQ(dump({"--records", "--check"}).status, 0);
  ASSERT_EQ(::fstat(data().get(), &after), 0);
  EXPECT_EQ(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
  EXPECT_EQ(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
  EXPECT_EQ(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
  std::ifstream file(dir_.file("kvtier.data"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  ASSERT_EQ(bytes.size(), image().size());
  EXPECT_EQ(std::memcmp(bytes.data(), image().data(), bytes.size()), 0);
  std::size_t names = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(dir_.path())) ++names;
  EXPECT_EQ(names, 1U) << "and it leaves no file";
}

// What a footer says is not read again without --check; with it the cause is named, of this record alone.
TEST_F(Dump, finds_a_flipped_byte_of_a_payload_R06) {
  open();
  put(0, 10);
  const DiskLocator locator = sim_->find(sim_key(4)).value();
  const std::uint64_t begin = segment_file_offset(sim_->store().path(0).geometry, locator.segment);
  end();
  image()[begin + locator.payload_offset() + 77] ^= std::byte{4};
  write(image());
  EXPECT_EQ(dump().status, 0);
  const Said said = dump({"--check", "--records"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.json()["faults"], Json({{"payload_damaged", 1}}));
  const Json json = said.json();
  EXPECT_EQ(json["records"].size(), 10U);
  for (const Json& record : json["records"]) {
    const bool is_it = record["key"] == to_hex(sim_key(4).key);
    EXPECT_EQ(record["fault"], is_it ? "payload_damaged" : "ok");
  }
  EXPECT_EQ(dump({"--check", "--segment", std::to_string(locator.segment + 1)}).status, 0);
  EXPECT_EQ(dump({"--check", "--segment", "1000"}).code, "not_found");
}

TEST_F(Dump, names_another_format_version) {
  open();
  end();
  for (std::uint32_t copy = 0; copy < kSuperblockCopies; ++copy) {
    const std::span<std::byte> bytes =
        std::span(image()).subspan(copy * kSuperblockStrideBytes, sizeof(Superblock));
    FormatPrefix prefix = read_prefix(bytes);
    prefix.version = kFormatVersion + 1;
    prefix.checksum = seal_checksum(prefix.magic, prefix.version, bytes);
    std::memcpy(bytes.data(), &prefix, sizeof prefix);
  }
  write(image());
  const Said said = dump();
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.code, "version");
  EXPECT_NE(said.message.find("format version 2"), std::string::npos) << said.message;
}

TEST_F(Dump, names_foreign_blank_and_truncated_files) {
  write(std::vector<std::byte>(2 * kMiB, std::byte{'x'}));
  EXPECT_EQ(dump().code, "invalid");
  write(std::vector<std::byte>(2 * kMiB));
  EXPECT_EQ(dump().code, "not_found");
  write(std::vector<std::byte>(1000));
  Said said = dump();
  EXPECT_EQ(said.code, "corrupt");
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.message.find("truncated"), std::string::npos) << said.message;
  open();
  put(0, 40);
  end();
  const std::size_t segments = (image().size() - kSegmentsOffset) / (128 * kKiB);
  write(std::span(image()).first(kSegmentsOffset + 128 * kKiB + 100));
  said = dump({"--check"});
  EXPECT_EQ(said.status, 1);
  EXPECT_EQ(said.json()["faults"]["truncated"], segments - 1);
  EXPECT_EQ(count_state(said.json()["paths"][0]["segments"], "cut"), segments - 1);
  EXPECT_EQ(count_state(said.json()["paths"][0]["segments"], "sealed"), 1U);
}

TEST_F(Dump, what_is_not_there_is_refused) {
  const Said said = dump();
  EXPECT_EQ(said.status, 3);
  EXPECT_EQ(said.code, "not_found");
  EXPECT_NE(said.message.find(dir_.file("kvtier.data")), std::string::npos);
  ASSERT_EQ(::mkfifo(dir_.file("kvtier.data").c_str(), 0600), 0);
  EXPECT_EQ(dump().code, "invalid") << "and it does not wait for a writer";
  EXPECT_EQ(run_kvctl({"dump"}).status, 64);
}

TEST_F(Dump, a_file_in_use_is_read_only_on_demand) {
  open();
  put(0, 3);
  write(image());
  const UniqueFd owner = data(O_RDWR);
  ASSERT_EQ(::flock(owner.get(), LOCK_EX), 0);
  std::ofstream(dir_.file("kvtier.lock")) << "pid 17, socket /s";
  const Said refused = dump();
  EXPECT_EQ(refused.status, 3);
  EXPECT_EQ(refused.code, "busy");
  EXPECT_NE(refused.message.find("pid 17, socket /s"), std::string::npos) << refused.message;
  const Said said = dump({"--live"});
  EXPECT_EQ(said.status, 0);
  EXPECT_EQ(said.json()["paths"][0]["live"], true);
  ASSERT_EQ(::flock(owner.get(), LOCK_UN), 0);
  EXPECT_EQ(dump({"--live"}).json()["paths"][0]["live"], false);
  EXPECT_EQ(::flock(owner.get(), LOCK_EX | LOCK_NB), 0) << "no lock is kept";
}

TEST_F(Dump, folders_of_one_store_only) {
  open();
  put(0, 3);
  end();
  write(image());
  const ScratchDir copy;
  std::filesystem::copy(dir_.file("kvtier.data"), copy.file("kvtier.data"));
  const Said said = dump({copy.path()});
  EXPECT_EQ(said.status, 1);
  EXPECT_NE(said.message.find("a copy"), std::string::npos) << said.message;
}

// The text has the same facts, on a terminal.
TEST_F(Dump, text) {
  open();
  put(0, 3);
  end();
  write(image());
  const Said said = run_kvctl({"dump", dir_.path(), "--records"});
  EXPECT_EQ(said.status, 0);
  for (const char* part : {"superblock  copies ok ok ok ok", "ended cleanly", "sealed",
                           "faults: none (payloads were not read", "7 segments free", "live"})
    EXPECT_NE(said.text.find(part), std::string::npos) << part << "\n" << said.text;
  EXPECT_NE(said.text.find(to_hex(sim_key(0).key)), std::string::npos);
}

}  // namespace
}  // namespace kvtier::test
