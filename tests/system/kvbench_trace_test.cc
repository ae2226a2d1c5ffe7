// kvbench trace over a small trace of its own: that it replays what it is given, finds no wrong byte, keeps its books, and
// says what is missing. Measures nothing.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/system/daemon_process.h"

namespace kvtier::test {
namespace {

using Json = nlohmann::json;

constexpr int kUnmeasured = 2;
constexpr std::uint64_t kSessions = 40;
constexpr std::uint64_t kTurns = 8;
constexpr std::uint64_t kTurnBlocks = 12;

class KvbenchTrace : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(place_.file("disk")); }

  // Sessions in turn, each prompt the one before and more: four times what memory holds, each read again when it left.
  std::string write_trace() {
    const std::string path = place_.file("trace.jsonl");
    std::ofstream file(path);
    for (std::uint64_t turn = 1; turn <= kTurns; ++turn) {
      for (std::uint64_t session = 0; session < kSessions; ++session) {
        Json ids = Json::array();
        for (std::uint64_t i = 0; i < turn * kTurnBlocks; ++i) ids.push_back(session * 1000 + i);
        file << Json{{"session", session}, {"hash_ids", ids}}.dump() << "\n";
      }
    }
    return path;
  }

  int kvbench(const std::string& trace, const std::string& more = {}, const std::string& before = {}) {
    const std::string script = before +
                               "exec \"$0\" --json trace \"$1\" --folder \"$2\" --block-bytes 16384 " +
                               "--host-blocks 1000 --disk-bytes 134217728 " + more + " >\"$3\"";
    ChildProcess child({.command = {"/bin/sh", "-c", script, program("kvbench"), trace, place_.file("disk"),
                                    place_.file("answer")},
                        .environment = {},
                        .output_path = place_.file("said")});
    const int status = child.wait();
    answer_ = Json::parse(read_file(place_.file("answer")), nullptr, false);
    return status;
  }
  [[nodiscard]] std::uint64_t value(const char* name) const { return answer_.at(name).get<std::uint64_t>(); }
  [[nodiscard]] std::string said() const { return read_file(place_.file("said")); }

  DaemonPlace place_;
  Json answer_;
};

TEST_F(KvbenchTrace, replays_compares_and_keeps_books) {
  const std::string trace = write_trace();
  // How much is saved before it leaves memory depends on the disk: again, until something came back from there.
  ASSERT_TRUE(eventually([&] {
    const int status = kvbench(trace, "--clients 2");
    EXPECT_EQ(status, 0) << said();
    return status != 0 || value("hits_disk") > 0;
  }));
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(value("errors"), 0U);
  EXPECT_EQ(value("requests"), kSessions * kTurns);
  EXPECT_EQ(value("references"), kSessions * kTurnBlocks * kTurns * (kTurns + 1) / 2);
  EXPECT_EQ(value("unique_blocks"), kSessions * kTurns * kTurnBlocks);
  EXPECT_EQ(value("hits"), value("hits_memory") + value("hits_disk") + value("hits_waited"));
  EXPECT_GE(value("written_payloads"), value("put_bytes"));
  EXPECT_GT(answer_.at("write_amplification").get<double>(), 1.0);
  EXPECT_LE(value("disk_file_bytes_max"), value("disk_bytes_bound"));
  EXPECT_GT(value("disk_bytes_max"), 0U);
}

// Beyond it blocks leave memory unsaved.
TEST_F(KvbenchTrace, a_budget_that_binds_is_kept) {
  constexpr std::uint64_t kBudget = std::uint64_t{24} * 16 * 1024 * 1024;  // an hour's worth is 16 MiB
  ASSERT_EQ(kvbench(write_trace(), "--budget-bytes-per-day " + std::to_string(kBudget)), 0) << said();
  EXPECT_EQ(value("errors"), 0U);
  EXPECT_GT(value("evictions_unsaved"), 0U) << "it does not bind";
  EXPECT_LE(value("written_bytes"), value("budget_allowed_bytes"));
}

TEST_F(KvbenchTrace, standard_input_and_fewer_requests) {
  ASSERT_EQ(kvbench("-", "--requests 3 <" + write_trace()), 0) << said();
  EXPECT_EQ(value("requests"), 3U);
}

TEST_F(KvbenchTrace, says_what_is_missing) {
  EXPECT_EQ(kvbench(place_.file("none.jsonl")), kUnmeasured);
  EXPECT_NE(said().find("none.jsonl: open: No such file"), std::string::npos) << said();
  std::ofstream(place_.file("bad.jsonl")) << "{\"hash_ids\":[1,2]}\n{\"hash_ids\":[-1]}\n";
  EXPECT_EQ(kvbench(place_.file("bad.jsonl")), kUnmeasured);
  EXPECT_NE(said().find("line 2"), std::string::npos) << said();
  std::ofstream(place_.file("packed.zst")) << "not packed";
  EXPECT_EQ(kvbench(place_.file("packed.zst"), {}, "PATH=/nowhere; export PATH; "), kUnmeasured);
  EXPECT_NE(said().find("there is no program zstd"), std::string::npos) << said();
}

}  // namespace
}  // namespace kvtier::test
