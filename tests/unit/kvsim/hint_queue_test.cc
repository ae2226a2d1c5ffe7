// Which hints come, when, and about what.

#include "tools/kvsim/hint_queue.h"

#include <gtest/gtest.h>

namespace kvtier::sim {
namespace {

Trace three_requests() {
  Trace trace;
  trace.sessions = 1;
  trace.requests = {
      {.time_ms = 0, .answer_ms = 500, .session = 1, .stop = Stop::kToolUse},
      {.time_ms = 100, .answer_ms = 100, .session = 1, .stop = Stop::kEndTurn},
      {.time_ms = 1000, .answer_ms = 0, .session = 1, .stop = Stop::kEndSession},
  };
  return trace;
}

HintSet set_of(std::initializer_list<UseHint> hints) {
  HintSet set;
  for (const UseHint hint : hints) set.add(hint);
  return set;
}

TEST(HintQueue, AHintComesWhenItsAnswerIsComplete) {
  const Trace trace = three_requests();
  HintQueue queue(trace, set_of({UseHint::kToolCall, UseHint::kTurnEnded, UseHint::kSessionEnded}));
  queue.served(0);
  queue.served(1);
  EXPECT_FALSE(queue.take(199).has_value());
  EXPECT_EQ(queue.take(2000)->request, 1U) << "the earlier one first";
  EXPECT_EQ(queue.take(2000)->time_ms, 500U);
  EXPECT_FALSE(queue.take(2000).has_value());
}

TEST(HintQueue, WhatIsNotGivenDoesNotCome) {
  const Trace trace = three_requests();
  HintQueue queue(trace, set_of({UseHint::kTurnEnded}));
  HintQueue silent(trace, {});
  for (HintQueue::Place i = 0; i < 3; ++i) {
    queue.served(i);
    silent.served(i);
  }
  EXPECT_EQ(queue.take(5000)->request, 1U);
  EXPECT_FALSE(queue.take(5000).has_value());
  EXPECT_FALSE(silent.take(5000).has_value());
}

TEST(HintQueue, TheEndOfASessionIsAboutAllOfIt) {
  const Trace trace = three_requests();
  HintQueue queue(trace, set_of({UseHint::kToolCall, UseHint::kSessionEnded}));
  for (HintQueue::Place i = 0; i < 3; ++i) queue.served(i);
  EXPECT_EQ(queue.concerned(0), (std::vector<HintQueue::Place>{0}));
  EXPECT_EQ(queue.concerned(2), (std::vector<HintQueue::Place>{2, 1, 0}));
}

}  // namespace
}  // namespace kvtier::sim
