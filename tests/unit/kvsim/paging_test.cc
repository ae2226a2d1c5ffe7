// kvsim paging: its report, and what it refuses.

#include "tools/kvsim/paging.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/kvsim/report.h"

namespace kvtier::sim {
namespace {

class PagingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path_) << "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                            "2023-11-16 18:17:03.98,100,40\r\n"
                            "2023-11-16 18:17:04.03,30,8\r\n"
                            "2023-11-16 18:17:04.05,900,2\r\n";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  const std::string path_ = std::filesystem::path(::testing::TempDir()) / "paging_test.csv";
};

TEST_F(PagingTest, ReportsAllSchemesOverOnePool) {
  const Result<PagingReport> report = compare_paging({.trace = path_, .pool_tokens = 1005});
  ASSERT_TRUE(report.is_ok()) << report.status().to_string();
  const nlohmann::json object = nlohmann::json::parse(to_json(report.value()));
  EXPECT_EQ(object["requests"], 3);
  EXPECT_EQ(object["left_out"], 0);
  EXPECT_EQ(object["pool_tokens"], 992) << "whole blocks";
  EXPECT_EQ(object["max_tokens"], 902) << "the longest";
  ASSERT_EQ(object["schemes"].size(), 4U);
  EXPECT_EQ(object["schemes"][0]["scheme"], "paged");
  EXPECT_EQ(object["schemes"][1]["scheme"], "contiguous max");
  for (const char* name : {"utilisation", "fragmentation"})
    EXPECT_EQ(object[name], object["schemes"][0][name]);
  for (const nlohmann::json& scheme : object["schemes"]) {
    EXPECT_EQ(scheme.value("utilisation", 0.0) + scheme.value("fragmentation", 0.0), 1.0);
    EXPECT_EQ(scheme["pool_free"].is_null(), scheme["waiting_share"] == 0.0) << scheme;
  }
  const std::string table = to_table(report.value());
  EXPECT_NE(table.find("contiguous oracle"), std::string::npos) << table;
  EXPECT_NE(table.find("3 requests, 0 left out; blocks of 16 tokens, a pool of 992"), std::string::npos)
      << table;
}

TEST_F(PagingTest, LeavesOutWhatIsLongerThanASequenceMayBe) {
  const Result<PagingReport> report = compare_paging({.trace = path_, .max_tokens = 200});
  ASSERT_TRUE(report.is_ok());
  EXPECT_EQ(report.value().left_out, 1U);
  EXPECT_EQ(report.value().paged().requests, 2U);
}

TEST_F(PagingTest, RefusesAPoolThatIsTooSmallAndATraceThatIsNone) {
  const Result<PagingReport> small = compare_paging({.trace = path_, .pool_tokens = 900});
  ASSERT_EQ(small.code(), Code::kInvalid);
  EXPECT_NE(small.status().message().find("raise --pool-tokens"), std::string::npos);
  std::ofstream(path_) << "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  EXPECT_EQ(compare_paging({.trace = path_}).code(), Code::kInvalid) << "no requests";
  EXPECT_EQ(compare_paging({.trace = path_ + ".missing"}).code(), Code::kSystem);
}

}  // namespace
}  // namespace kvtier::sim
