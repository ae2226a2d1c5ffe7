// Hits of small traces: by hand, and of a generated one against figures that another program computed.

#include "tools/kvsim/replay.h"

#include <gtest/gtest.h>

#include "libkvclient/base/prng.h"
#include "tools/kvsim/report.h"
#include "tools/traces/trace_parser.h"

namespace kvtier::sim {
namespace {

Trace trace_of(std::initializer_list<const char*> prompts) {
  TraceParser parser;
  for (const char* ids : prompts) {
    const Status status = parser.add_line(std::string("{\"hash_ids\":[") + ids + "]}");
    EXPECT_TRUE(status.is_ok()) << status.to_string();
  }
  return parser.take();
}

std::uint64_t hits(const Trace& trace, const char* policy, std::uint32_t capacity) {
  return replay(trace, *find_policy(policy), capacity).hits;
}

TEST(Replay, ABlockIsAHitOnlyBehindItsPrefix) {
  const Trace trace = trace_of({"1,2,3", "9", "1,2,3"});
  for (const Policy& policy : policies()) EXPECT_EQ(replay(trace, policy, 4).hits, 3U) << policy.name;
  // 9 takes the place of 3, the end of the prompt, under LRU.
  EXPECT_EQ(hits(trace, "lru", 3), 2U);
}

TEST(Replay, WhatARequestPushesOutStillCountsForIt) {
  EXPECT_EQ(hits(trace_of({"1,2", "1,2,3,4"}), "lru", 2), 2U);
}

TEST(Replay, FifoForgetsWhatLruKeeps) {
  const Trace trace = trace_of({"1", "2", "1", "3", "1"});
  EXPECT_EQ(hits(trace, "lru", 2), 2U);
  EXPECT_EQ(hits(trace, "fifo", 2), 1U);
}

TEST(Replay, MinKeepsWhatComesFirst) {
  const Trace trace = trace_of({"1,2", "3", "4", "1,2", "3", "4"});
  EXPECT_EQ(hits(trace, "min", 2), 2U);
  EXPECT_EQ(hits(trace, "lru", 2), 0U);
}

// Chats: each grows by one block a turn and is left after some; a shared head.
Trace chats() {
  Prng chance(11);
  TraceParser parser;
  struct Chat {
    std::uint64_t first;
    unsigned turns;
  };
  std::vector<Chat> open;
  std::uint64_t next = 1000;
  for (int i = 0; i < 4000; ++i) {
    if (open.size() < 30 || chance.below(6) == 0) open.push_back({next, 0}), next += 100;
    Chat& chat = open[open.size() - 1 - chance.below(std::min<std::uint64_t>(open.size(), 40))];
    chat.turns = std::min(chat.turns + 1, 40U);
    std::string line = "{\"hash_ids\":[1,2";
    for (unsigned turn = 0; turn < chat.turns; ++turn) line += "," + std::to_string(chat.first + turn);
    EXPECT_TRUE(parser.add_line(line + "]}").is_ok());
  }
  return parser.take();
}

// The figures of another program, written for the purpose, over the same trace; its S3-FIFO looks for the ghost before it
// makes room, and has 3 hits more.
TEST(Replay, AGeneratedTraceHasItsKnownHits) {
  const Trace trace = chats();
  ASSERT_EQ(trace.unique, 4002U);
  ASSERT_EQ(trace.blocks.size(), 23185U);
  const std::uint32_t capacity = capacity_of(trace, 2);
  EXPECT_EQ(hits(trace, "lru", capacity), 15079U);
  EXPECT_EQ(hits(trace, "fifo", capacity), 13938U);
  EXPECT_EQ(hits(trace, "arc", capacity), 14751U);
  EXPECT_EQ(hits(trace, "s3fifo", capacity), 13493U);
  EXPECT_EQ(hits(trace, "min", capacity), 18572U);
  EXPECT_GE(hits(trace, "default", capacity), 15079U - trace.blocks.size() / 200) << "half a point below LRU";
}

// Sessions that look alike while they run: whether one goes on only its engine knows.
Trace sessions() {
  Prng chance(5);
  TraceParser parser;
  struct Session {
    std::uint64_t number;
    unsigned turns;
  };
  std::vector<Session> open;
  std::uint64_t next = 1;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    if (open.size() < 20) open.push_back({next++, 0});
    const std::size_t at = chance.below(open.size());
    Session& session = open[at];
    ++session.turns;
    std::string line = "{\"timestamp\":" + std::to_string(i * 1000) + ",\"api_ms\":100,\"session\":\"" +
                       std::to_string(session.number) + "\",\"hash_ids\":[";
    for (unsigned turn = 0; turn < session.turns; ++turn)
      line += (turn == 0 ? "" : ",") + std::to_string(session.number * 100 + turn);
    EXPECT_TRUE(parser.add_line(line + "]}").is_ok());
    if (chance.below(4) == 0) open.erase(open.begin() + static_cast<long>(at));
  }
  return parser.take();
}

TEST(Replay, TheEndOfASessionMakesRoomForTheOthers) {
  const Trace trace = sessions();
  HintSet hints;
  hints.add(UseHint::kSessionEnded);
  const Policy& policy = *find_policy("default");
  const ReplayResult without = replay(trace, policy, 60);
  const ReplayResult with = replay(trace, policy, 60, hints);
  EXPECT_GT(with.hits, without.hits + trace.blocks.size() / 50) << "two points at least";
  EXPECT_TRUE(with.is_with_hints);
  EXPECT_FALSE(without.is_with_hints);
  HintSet others;
  others.add(UseHint::kToolCall);
  EXPECT_EQ(replay(trace, policy, 60, others).hits, without.hits) << "the trace has none";
  const ReplayResult lru = replay(trace, *find_policy("lru"), 60, hints);
  EXPECT_EQ(lru.hits, hits(trace, "lru", 60));
  EXPECT_FALSE(lru.is_with_hints) << "it does not weigh them, and does not say that it did";
}

TEST(Replay, NobodyBeatsMin) {
  const Trace trace = chats();
  for (const double percent : {1.0, 5.0, 20.0}) {
    const std::uint32_t capacity = capacity_of(trace, percent);
    const std::uint64_t most = hits(trace, "min", capacity);
    for (const Policy& policy : policies())
      EXPECT_LE(replay(trace, policy, capacity).hits, most) << policy.name;
  }
}

TEST(Replay, ReportsAsJsonAndAsATable) {
  ReplayResult result = replay(trace_of({"1,2,3", "1,2,3"}), *find_policy("arc"), 3);
  result.seconds = 2;
  EXPECT_EQ(
      to_json(result),
      R"({"policy":"arc","capacity_blocks":3,"references":6,"hits":3,"hit_ratio":0.5,"hints":false,"references_per_s":3.0})");
  EXPECT_EQ(to_table({result}), "    blocks      arc\n         3   0.5000");
}

TEST(Replay, CapacityIsRoundedDownAndNotNothing) {
  const Trace trace = trace_of({"1,2,3,4,5,6,7,8,9,10"});
  EXPECT_EQ(capacity_of(trace, 19.9), 1U);
  EXPECT_EQ(capacity_of(trace, 1), 1U);
  EXPECT_EQ(capacity_of(trace, 100), 10U);
}

TEST(Replay, ATraceCanBeCutAndPaced) {
  Trace trace = trace_of({"1,2", "1,3", "4"});
  pace(trace, 2.5);
  EXPECT_EQ(trace.requests[2].time_ms, 5U);
  cut(trace, 0);
  EXPECT_EQ(trace.requests.size(), 3U);
  cut(trace, 2);
  EXPECT_EQ(trace.requests.size(), 2U);
  EXPECT_EQ(trace.blocks.size(), 4U);
  EXPECT_EQ(trace.unique, 3U);
  cut(trace, 9);
  EXPECT_EQ(trace.requests.size(), 2U);
}

}  // namespace
}  // namespace kvtier::sim
