// What peers write: every mistake is an answer, none is the daemon's end.

#include "daemon/admin/admin_request.h"

#include <gtest/gtest.h>

#include "daemon/admin/tree_cursor.h"
#include "libkvclient/base/prng.h"

namespace kvtier {
namespace {

void expect_invalid(std::string_view line, std::string_view part) {
  const Result<AdminRequest> request = parse_admin_request(line);
  ASSERT_FALSE(request.is_ok()) << line.substr(0, 100);
  EXPECT_EQ(request.code(), Code::kInvalid);
  EXPECT_NE(request.status().message().find(part), std::string::npos) << request.status().message();
}

TEST(AdminRequest, ReadsEveryField) {
  const AdminRequest request =
      parse_admin_request(R"({"verb":"ls","namespace":"team","space":3,"limit":10,"cursor":77})").value();
  EXPECT_EQ(request.verb, AdminVerb::kLs);
  EXPECT_EQ(request.namespace_name, "team");
  EXPECT_EQ(request.space, SpaceId{3});
  EXPECT_EQ(request.limit, 10U);
  EXPECT_EQ(request.cursor, 77U);
  EXPECT_FALSE(request.is_destructive());
}

TEST(AdminRequest, ATreesCursorIsTheTextOfAnEarlierPage) {
  const TreeCursor cursor{.record = 77,
                          .at = {BlockId{5}, SlotRef::of(2, 9), kGenerationMax},
                          .depth = 8,
                          .level = 3,
                          .is_climbing = true};
  const std::string line = R"({"verb":"tree","cursor":")" + tree_cursor_to_text(cursor) + "\"}";
  EXPECT_EQ(parse_admin_request(line).value().tree_cursor, cursor);
  EXPECT_EQ(tree_cursor_from_text(tree_cursor_to_text({})), TreeCursor{});
  for (const char* text :
       {"77", "\"\"", "\"77\"", "\"1-2-3-4-5-6\"", "\"1-2-3-4-5-6-2\"", "\"1-2-3-4-5-6-1-\"",
        "\"1-2-3-4-5-6-+1\"", "\"4294967296-0-0-0-0-0-0\"", "\" 1-2-3-4-5-6-1\""})
    expect_invalid(std::string(R"({"verb":"tree","cursor":)") + text + "}", "cursor of a tree");
}

TEST(AdminRequest, KeysAreHexInEitherCase) {
  EXPECT_EQ(parse_admin_request(R"({"verb":"inspect","key":"AB12cd"})").value().key, "ab12cd");
  for (const char* key : {R"("abc")", R"("xyzw")", "7", "null", R"(["abcd"])"})
    expect_invalid(std::string(R"({"verb":"inspect","key":)") + key + "}", "4 to 64 hex digits");
}

TEST(AdminRequest, NamesWhatIsWrong) {
  expect_invalid("", "not a JSON object");
  expect_invalid("hello", "not a JSON object");
  expect_invalid("[1]", "not a JSON object");
  expect_invalid(R"({"verb":"ls"} {"verb":"ls"})", "not a JSON object");
  expect_invalid("{}", "verb");
  expect_invalid(R"({"verb":7})", "verb");
  expect_invalid(R"({"verb":"evct"})", "did you mean \"evict\"");
  expect_invalid(R"({"verb":"ls","limt":3})", "no field \"limt\"");
  expect_invalid(R"({"verb":"version","x":3})", "no field");
  expect_invalid(R"({"verb":"ls","limit":"3"})", "limit must be a whole number");
  expect_invalid(R"({"verb":"ls","limit":-3})", "limit must be a whole number");
  expect_invalid(R"({"verb":"ls","limit":1e3})", "limit must be a whole number");
  expect_invalid(R"({"verb":"ls","limit":100000})", "limit must be a whole number");
  expect_invalid(R"({"verb":"ls","limit":0})", "at least 1");
  expect_invalid(R"({"verb":"ls","cursor":18446744073709551616})", "cursor must be");
  expect_invalid(R"({"verb":"ls","namespace":""})", "namespace must be");
  expect_invalid(R"({"verb":"ls","space":1})", "space needs a namespace");
  expect_invalid(R"({"verb":"kick"})", "kick needs an id");
  expect_invalid(R"({"verb":"kick","pid":0})", "kick needs an id");
  expect_invalid(R"({"verb":"kick","pid":7,"session":7})", "one of id, pid and session");
}

TEST(AdminRequest, AForgottenFilterEmptiesNothing) {
  expect_invalid(R"({"verb":"evict"})", "evict needs");
  expect_invalid(R"({"verb":"flush"})", "flush needs");
  expect_invalid(R"({"verb":"flush","all":false})", "flush needs");
  expect_invalid(R"({"verb":"flush","all":true,"namespace":"a"})", "flush needs");
  EXPECT_TRUE(parse_admin_request(R"({"verb":"flush","all":true})").value().is_stepwise());
}

TEST(AdminRequest, DepthAndLengthAreBounded) {
  expect_invalid(std::string(16000, '['), "nested too deeply");
  std::string nested = R"({"verb":)";
  for (int i = 0; i < 3000; ++i) nested += R"({"a":)";
  expect_invalid(nested, "nested too deeply");
  expect_invalid(R"({"verb":")" + std::string(20000, 'x') + "\"}", "longer than 16 KiB");
  expect_invalid(R"({"verb":")" + std::string(9000, 'x') + "\"}", "unknown verb");
  EXPECT_TRUE(parse_admin_request(R"({"verb":"ls","namespace":"[[[[[[{{{{"})").is_ok());
}

// The seed is fixed: a failure replays.
TEST(AdminRequest, SurvivesScribbles) {
  Prng prng(7);
  const std::string right =
      R"({"verb":"tree","namespace":"team","space":3,"limit":10,"cursor":"1-2-3-4-5-6-1"})";
  for (int round = 0; round < 20000; ++round) {
    std::string line = right;
    for (int i = 0; i < 4; ++i) line[prng.next() % line.size()] = static_cast<char>(prng.next());
    const Result<AdminRequest> request = parse_admin_request(line);
    if (!request.is_ok()) {
      EXPECT_EQ(request.code(), Code::kInvalid);
    }
  }
}

}  // namespace
}  // namespace kvtier
