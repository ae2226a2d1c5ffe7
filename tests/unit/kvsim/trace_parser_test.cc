// Lines of traces: what is read of them, and what is refused.

#include "tools/traces/trace_parser.h"

#include <gtest/gtest.h>

namespace kvtier::sim {
namespace {

TEST(TraceParser, ReadsMooncakeAndMergedLines) {
  TraceParser parser;
  ASSERT_TRUE(
      parser
          .add_line(
              R"({"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 2353]})")
          .is_ok());
  ASSERT_TRUE(
      parser
          .add_line(
              R"({"timestamp":30000.5,"session":"hash_ids","subagent":0,"stop":"","api_ms":13890,"hash_ids":[46,9]})")
          .is_ok());
  ASSERT_TRUE(parser.add_line(R"({"hash_ids":[],"x":{"hash_ids":"no","y":[1,[2]]}})").is_ok());
  const Trace trace = parser.take();
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.requests[0].time_ms, 27482U);
  EXPECT_EQ(trace.requests[1].time_ms, 30000U);
  EXPECT_EQ(trace.requests[2].time_ms, 2000U) << "it says nothing: a second a request";
  EXPECT_EQ(trace.requests[1].first, 3U);
  EXPECT_EQ(trace.requests[2].count, 0U);
  EXPECT_EQ(trace.blocks, (std::vector<BlockNumber>{0, 1, 2, 0, 3})) << "dense, in order of first use";
  EXPECT_EQ(trace.unique, 4U);
}

TEST(TraceParser, KnowsWhatStoppedARequestAndThatTheLastOfASessionEndsIt) {
  TraceParser parser;
  for (const char* line :
       {R"({"session":"a","stop":"tool_use","api_ms":700,"hash_ids":[1]})",
        R"({"session":"b","stop":"end_turn","hash_ids":[2]})",
        R"({"session":"b","stop":"tool_use","hash_ids":[2]})",
        R"({"session":"a","stop":"","x":{"stop":"end_turn","api_ms":9},"hash_ids":[1]})",
        R"({"session":"a","stop":"end_turn","hash_ids":[1]})", R"({"stop":"end_turn","hash_ids":[3]})"})
    ASSERT_TRUE(parser.add_line(line).is_ok()) << line;
  const Trace trace = parser.take();
  const std::vector<Stop> expected = {Stop::kToolUse, Stop::kEndTurn,    Stop::kEndSession,
                                      Stop::kUnknown, Stop::kEndSession, Stop::kEndTurn};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(trace.requests[i].stop, expected[i]) << i;
  EXPECT_EQ(trace.requests[0].answer_ms, 700U);
  EXPECT_EQ(trace.requests[3].answer_ms, 0U);
  EXPECT_EQ(trace.sessions, 2U);
  EXPECT_EQ(trace.requests[1].session, trace.requests[2].session);
  EXPECT_NE(trace.requests[0].session, trace.requests[1].session);
  EXPECT_EQ(trace.requests[5].session, 0U) << "it says none";
}

TEST(TraceParser, LargeIdsAreIdsToo) {
  TraceParser parser;
  ASSERT_TRUE(
      parser.add_line(R"({"hash_ids":[18446744073709551615, 67108864, 0, 67108863, 18446744073709551615]})")
          .is_ok());
  EXPECT_EQ(parser.take().blocks, (std::vector<BlockNumber>{0, 1, 2, 3, 0}));
}

TEST(TraceParser, RefusesWhatIsNoRequest) {
  for (const char* line :
       {"", "[1]", "3", "{", R"({"hash_ids":[1,2)", R"({"timestamp":1})", R"({"hash_ids":7})",
        R"({"hash_ids":"1"})", R"({"hash_ids":[1,-2]})", R"({"hash_ids":[1.5]})", R"({"hash_ids":["1"]})",
        R"({"hash_ids":[[1]]})", R"({"hash_ids":{"a":[1]}})", R"({"hash_ids":null})",
        R"({"hash_ids":[1]} {"hash_ids":[2]})", R"([{"hash_ids":[1]}])",
        R"({"hash_ids":[18446744073709551616]})"}) {
    const Status status = TraceParser().add_line(line);
    EXPECT_EQ(status.code(), Code::kInvalid) << line;
    EXPECT_FALSE(status.message().empty()) << line;
  }
}

}  // namespace
}  // namespace kvtier::sim
