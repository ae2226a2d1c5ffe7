// The simulation on traces that can be worked out by hand.

#include "tools/paging/simulation.h"

#include <gtest/gtest.h>

#include "tools/paging/contiguous_scheme.h"
#include "tools/paging/paged_scheme.h"

namespace kvtier::sim {
namespace {

using Reserve = ContiguousScheme::Reserve;
using Requests = std::vector<LengthRequest>;

PagingResult paged(const Requests& requests, std::uint64_t pool_tokens, std::uint32_t block_tokens = 4) {
  PagedScheme scheme(pool_tokens, block_tokens);
  const PagingResult result = simulate_paging(requests, scheme, 10);
  EXPECT_EQ(scheme.allocated_total(), 0U) << "all of them ended";
  return result;
}

PagingResult contiguous(const Requests& requests, std::uint64_t pool_tokens, Reserve reserve,
                        std::uint64_t max_tokens) {
  ContiguousScheme scheme(pool_tokens, reserve, max_tokens);
  const PagingResult result = simulate_paging(requests, scheme, 10);
  EXPECT_EQ(scheme.allocated_total(), 0U);
  return result;
}

void expect_shares(const PagingResult& result, double held, double reserved, double unused) {
  const double all = held + reserved + unused;
  EXPECT_DOUBLE_EQ(result.utilisation, held / all);
  EXPECT_DOUBLE_EQ(result.fragmentation(), 1 - held / all);
  EXPECT_DOUBLE_EQ(result.reserved, reserved / all);
  EXPECT_NEAR(result.unused, unused / all, 1e-12);
}

// It holds 10, 11, 12 and 13 tokens in four steps.
TEST(PagingSimulation, OneRequestHasWhatItsSchemeGivesIt) {
  const Requests one = {{0, 10, 3}};
  expect_shares(paged(one, 64), 46, 3, 3);  // in blocks of four: 12, 12, 12, 16
  expect_shares(contiguous(one, 64, Reserve::kMax, 20), 46, 6, 28);
  expect_shares(contiguous(one, 64, Reserve::kPow2, 20), 46, 6, 4);  // an output of 3 gets 4
  expect_shares(contiguous(one, 64, Reserve::kOracle, 20), 46, 6, 0);
  const PagingResult result = paged(one, 64);
  EXPECT_DOUBLE_EQ(result.utilisation_step_mean, (10 / 12. + 11 / 12. + 12 / 12. + 13 / 16.) / 4);
  EXPECT_DOUBLE_EQ(result.utilisation_request_mean, 46 / 52.);
  EXPECT_EQ(result.running_max, 1U);
  EXPECT_EQ(result.waiting_share, 0);
  EXPECT_EQ(result.wait_mean_s, 0);
}

// The second comes while the first still has the only place there is.
TEST(PagingSimulation, WhoFindsNoRoomWaitsInOrder) {
  const Requests three = {{0, 10, 2}, {100, 10, 2}, {150, 1, 1}};
  const PagingResult result = contiguous(three, 20, Reserve::kMax, 20);
  EXPECT_EQ(result.running_max, 1U);
  // Three steps of 100 ms each for the first two; the third comes after 150 ms and has to let both go first.
  EXPECT_NEAR(result.wait_mean_s, (0 + 0.2 + 0.45) / 3, 1e-9);
  EXPECT_DOUBLE_EQ(result.waiting_share, 5 / 8.);
  EXPECT_DOUBLE_EQ(result.pool_utilisation, (11 + 12 + 10 + 11 + 12) / 100.);
  EXPECT_EQ(result.pool_free, 0);
}

// When the fourth comes the first and the third leave: two pieces of 10 are free, and it asks for 15.
TEST(PagingSimulation, RoomInPiecesIsShatteredWhereItMustBeOne) {
  const Requests four = {{0, 8, 2}, {0, 8, 12}, {0, 8, 2}, {300, 8, 7}};
  const PagingResult pieces = contiguous(four, 40, Reserve::kOracle, 40);
  EXPECT_DOUBLE_EQ(pieces.wait_mean_s, 1.0 / 4) << "until the second is done";
  EXPECT_DOUBLE_EQ(pieces.pool_free, 0.5);
  EXPECT_DOUBLE_EQ(pieces.pool_shattered, 0.5);
  const PagingResult pages = paged(four, 40);
  EXPECT_EQ(pages.wait_mean_s, 0);
  EXPECT_EQ(pages.waiting_share, 0);
}

// Both fit when they come, and not when they have grown: the second gives way, and goes on when the first is done. Its
// two full blocks are still there; only its last one was private.
TEST(PagingSimulation, TheLastToComeIsPreemptedAndComesBack) {
  const Requests two = {{0, 8, 12}, {0, 8, 12}};
  const PagingResult result = paged(two, 32);
  EXPECT_GE(result.preemptions, 1U);
  EXPECT_EQ(result.running_max, 2U);
  EXPECT_GT(result.waiting_share, 0);
  EXPECT_EQ(paged(two, 40).preemptions, 0U);
}

// The first grows over the blocks that the second left: those are computed again.
TEST(PagingSimulation, WhatWasEvictedIsComputedAgain) {
  const Requests two = {{0, 8, 20}, {0, 12, 8}};
  const PagingResult result = paged(two, 28);
  EXPECT_GE(result.preemptions, 1U);
  EXPECT_GT(result.recomputed_tokens, 0U);
}

// Lengths of the kind that the article serves: short blocks waste less than half a block a request.
TEST(PagingSimulation, WasteIsPartOfTheLastBlockOnly) {
  Requests many;
  for (std::uint32_t i = 0; i < 500; ++i) many.push_back({i * 40, 100 + i % 37 * 11, 20 + i % 29 * 7});
  const PagingResult pages = paged(many, 1 << 16, 16);
  EXPECT_GT(pages.utilisation, 0.97);
  const double in_blocks_of_128 = paged(many, 1 << 16, 128).utilisation;
  EXPECT_LT(in_blocks_of_128, pages.utilisation);
  EXPECT_LT(contiguous(many, 1 << 16, Reserve::kMax, 2048).utilisation, 0.4);
}

}  // namespace
}  // namespace kvtier::sim
