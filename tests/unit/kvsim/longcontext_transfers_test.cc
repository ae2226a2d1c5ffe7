// Queues of links, by hand: a page takes 100 ps over PCIe and 400 ps on a device.

#include "tools/kvsim/longcontext_transfers.h"

#include <gtest/gtest.h>

namespace kvtier::sim {
namespace {

constexpr TransferRates kRates = {
    .pcie = {1e13, 30, 7}, .nvme_device = {2.5e12, 0, 1000}, .nvme_devices = 2, .page_bytes = 1000};

std::vector<std::pair<Picoseconds, PageNumber>> arrivals(Transfers& transfers) {
  std::vector<std::pair<Picoseconds, PageNumber>> all;
  while (const auto arrival = transfers.next_arrival()) all.emplace_back(arrival->at_ps, arrival->move.first);
  return all;
}
using Arrivals = std::vector<std::pair<Picoseconds, PageNumber>>;

TEST(LongContextTransfers, TimeIsBytesByBandwidthRoundedUp) {
  EXPECT_EQ(ps_for(65536, 55e9), 1'191'564U);
  EXPECT_EQ(ps_for(0, 55e9), 0U);
}

TEST(LongContextTransfers, ALinkServesOneMoveAtATimeAndLatencyDoesNotOccupyIt) {
  Transfers transfers(kRates);
  transfers.start(50, {.first = 1});
  transfers.start(50, {.first = 2, .count = 3});
  transfers.start(500, {.first = 5});
  EXPECT_EQ(arrivals(transfers), (Arrivals{{157, 1}, {457, 2}, {607, 5}}));
  EXPECT_EQ(transfers.pcie_bytes(), 5000U);
  EXPECT_EQ(transfers.nvme_bytes(), 0U);
}

TEST(LongContextTransfers, AMoveOccupiesItsLinkForNoLessThanItsSubmission) {
  TransferRates rates = kRates;
  rates.pcie.per_move_ps = 250;
  Transfers transfers(rates);
  transfers.start(0, {.first = 1});
  transfers.start(0, {.first = 2, .count = 3});
  EXPECT_EQ(arrivals(transfers), (Arrivals{{257, 1}, {557, 2}}));
}

TEST(LongContextTransfers, DevicesWorkAtTheSameTimeAndShareThePcieLink) {
  Transfers transfers(kRates);
  transfers.start(0, {.first = 1, .device = 0});
  transfers.start(0, {.first = 2, .device = 1});
  transfers.start(0, {.first = 3, .device = 0});
  // Device 0: 0 to 400 and to 800, each 1,000 later in host memory; the link: 1400 to 1500, to 1600; 1800 to 1900.
  EXPECT_EQ(arrivals(transfers), (Arrivals{{1507, 1}, {1607, 2}, {1907, 3}}));
  EXPECT_EQ(transfers.nvme_bytes(), 3000U);
  EXPECT_EQ(transfers.pcie_bytes(), 3000U);
}

TEST(LongContextTransfers, DemandGoesFirstButDoesNotInterrupt) {
  Transfers transfers(kRates);
  transfers.start(0, {.first = 1, .is_demand = false});
  transfers.start(0, {.first = 2, .is_demand = false});
  transfers.start(10, {.first = 3});
  EXPECT_EQ(arrivals(transfers), (Arrivals{{107, 1}, {207, 3}, {307, 2}}));
}

TEST(LongContextTransfers, ARaisedPrefetchGoesFirstAndOnlyOnce) {
  Transfers transfers(kRates);
  transfers.start(0, {.first = 1, .device = 0, .is_demand = false});
  transfers.start(0, {.first = 2, .device = 0, .is_demand = false});
  const MoveId raised = transfers.start(0, {.first = 3, .device = 0, .is_demand = false});
  transfers.raise(raised);
  transfers.raise(raised);
  EXPECT_EQ(arrivals(transfers), (Arrivals{{1507, 1}, {1907, 3}, {2307, 2}}));
  EXPECT_EQ(transfers.nvme_bytes(), 3000U);
}

TEST(LongContextTransfers, OnlyWhatNoLinkHasBegunIsCancelled) {
  Transfers transfers(kRates);
  const MoveId served = transfers.start(0, {.first = 1, .is_demand = false});
  const MoveId waiting = transfers.start(0, {.first = 2, .is_demand = false});
  EXPECT_FALSE(transfers.cancel(served));
  EXPECT_TRUE(transfers.cancel(waiting));
  EXPECT_EQ(arrivals(transfers), (Arrivals{{107, 1}}));
  transfers.start(200, {.first = 3});
  transfers.start(200, {.first = 4});
  EXPECT_EQ(arrivals(transfers), (Arrivals{{307, 3}, {407, 4}}));
  EXPECT_EQ(transfers.pcie_bytes(), 3000U);
}

TEST(LongContextTransfers, ArrivalsAreHandedOutUpToTheTimeAsked) {
  Transfers transfers(kRates);
  transfers.start(0, {.first = 1});
  transfers.start(120, {.first = 2});  // the first is on its way out: 107
  EXPECT_FALSE(transfers.next_arrival(106).has_value());
  EXPECT_EQ(transfers.next_arrival(107)->move.first, 1U);
  EXPECT_FALSE(transfers.next_arrival(226).has_value());
  EXPECT_EQ(transfers.next_arrival(227)->move.first, 2U);
}

}  // namespace
}  // namespace kvtier::sim
