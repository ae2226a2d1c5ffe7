// Arrivals and lengths as Azure publishes them.

#include "tools/traces/length_trace.h"

#include <gtest/gtest.h>

namespace kvtier::sim {
namespace {

TEST(LengthTrace, CountsTimeFromTheFirstRequest) {
  LengthParser parser;
  EXPECT_TRUE(parser.add_line("TIMESTAMP,ContextTokens,GeneratedTokens").is_ok());
  EXPECT_TRUE(parser.add_line("2023-11-16 23:59:59.9799600,4808,10").is_ok());
  EXPECT_TRUE(parser.add_line("2023-11-17 00:00:01.0319600,3180,0").is_ok());
  const std::vector<LengthRequest> requests = parser.take();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].time_ms, 0U);
  EXPECT_EQ(requests[0].prompt, 4808U);
  EXPECT_EQ(requests[0].output, 10U);
  EXPECT_EQ(requests[0].total(), 4818U);
  EXPECT_EQ(requests[1].time_ms, 1052U);
}

TEST(LengthTrace, PutsRequestsInOrderOfArrival) {
  LengthParser parser;
  for (const char* line : {"2024-03-01 00:00:02,1,1", "2024-02-29 23:59:59,2,1", "2024-03-01 00:00:02.0,3,1"})
    ASSERT_TRUE(parser.add_line(line).is_ok()) << line;
  const std::vector<LengthRequest> requests = parser.take();
  EXPECT_EQ(requests[0].prompt, 2U);
  EXPECT_EQ(requests[1].prompt, 1U);
  EXPECT_EQ(requests[2].prompt, 3U) << "at the same time: as they stood";
  EXPECT_EQ(requests[2].time_ms, 3000U);
}

TEST(LengthTrace, RefusesWhatIsNone) {
  for (const char* line :
       {"", "2023-11-16 18:17:03.98", "2023-11-16 18:17:03.98,1", "2023-11-16 18:17:03.98,1,2,3",
        "2023-11-16 18:17:03.98,-1,2", "2023-11-16 18:17:03.98,0,2", "2023-02-30 18:17:03.98,1,2",
        "2023-11-16 24:17:03.98,1,2", "2023-11-16 18:60:03.98,1,2", "2023-11-16 18:17:nan,1,2",
        "2023-11-16T18:17:03.98,1,2", "2023-11-16 18:17:03.98,4294967296,2", "{\"hash_ids\":[1]}"}) {
    LengthParser parser;
    EXPECT_EQ(parser.add_line(line).code(), Code::kInvalid) << line;
  }
  LengthParser parser;
  ASSERT_TRUE(parser.add_line("2023-11-16 18:17:03.98,1,2").is_ok());
  EXPECT_EQ(parser.add_line("TIMESTAMP,ContextTokens,GeneratedTokens").code(), Code::kInvalid)
      << "the header is the first line";
}

}  // namespace
}  // namespace kvtier::sim
