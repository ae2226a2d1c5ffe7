// Trace files, plain and packed, and what is said of those that cannot be read.

#include "tools/traces/trace_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kvtier::sim {
namespace {

class TraceFileTest : public ::testing::Test {
 protected:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "trace_file_test";

  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const char* name, const std::string& text) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string pack(const std::string& path) {
    if (std::system(("zstd -q " + path).c_str()) != 0) return {};
    return path + ".zst";
  }
};

constexpr const char* kTwoLines = "{\"hash_ids\":[1,2]}\n\n{\"hash_ids\":[1,3]}";

TEST_F(TraceFileTest, ReadsPlainLines) {
  const Result<Trace> trace = read_trace(write("a.jsonl", kTwoLines));
  ASSERT_TRUE(trace.is_ok()) << trace.status().to_string();
  EXPECT_EQ(trace.value().blocks, (std::vector<BlockNumber>{0, 1, 0, 2}));
}

TEST_F(TraceFileTest, ReadsPackedLines) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "{\"hash_ids\":[" + std::to_string(i) + "]}\n";
  const std::string path = pack(write("b.jsonl", text));
  if (path.empty()) GTEST_SKIP() << "no zstd program";
  const Result<Trace> trace = read_trace(path);
  ASSERT_TRUE(trace.is_ok()) << trace.status().to_string();
  EXPECT_EQ(trace.value().unique, 100000U);
  EXPECT_EQ(trace.value().requests.size(), 100000U);
}

TEST_F(TraceFileTest, NamesTheLineThatIsWrong) {
  const Result<Trace> trace = read_trace(write("c.jsonl", std::string(kTwoLines) + "\n{\"hash_ids\":[1,\n"));
  ASSERT_EQ(trace.code(), Code::kInvalid);
  EXPECT_NE(trace.status().message().find("line 4"), std::string::npos) << trace.status().message();
}

TEST_F(TraceFileTest, NamesWhatCannotBeRead) {
  EXPECT_EQ(read_trace(folder_ / "nowhere").code(), Code::kSystem);
  EXPECT_EQ(read_trace(write("empty.jsonl", "\n")).code(), Code::kInvalid);
}

TEST_F(TraceFileTest, SaysThatAPackedFileIsBroken) {
  if (pack(write("d.jsonl", kTwoLines)).empty()) GTEST_SKIP() << "no zstd program";
  const Result<Trace> trace = read_trace(write("broken.zst", "this is not packed"));
  ASSERT_EQ(trace.code(), Code::kInvalid);
  EXPECT_NE(trace.status().message().find("zstd"), std::string::npos) << trace.status().message();
}

TEST_F(TraceFileTest, SaysWhenThereIsNoZstd) {
  const std::string path = write("e.zst", "any");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", folder_.c_str(), 1);
  const Result<Trace> trace = read_trace(path);
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_EQ(trace.code(), Code::kUnsupported) << trace.status().to_string();
  EXPECT_NE(trace.status().message().find("install it"), std::string::npos);
}

}  // namespace
}  // namespace kvtier::sim
