// The model itself, on the litmus tests whose answers are known.
#include <gtest/gtest.h>

#include "tests/explore/explorer.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

using Cell = ModelMemory::Cell64;
using Programs = std::vector<Program>;

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

std::uint64_t load(const Cell& cell, std::memory_order order) {
  return step({OpKind::kLoad, cell.location, order, 0});
}
void store(Cell& cell, std::uint64_t value, std::memory_order order) {
  step({OpKind::kStore, cell.location, order, value});
}
std::uint64_t add(Cell& cell, std::uint64_t value, std::memory_order order) {
  return step({OpKind::kAdd, cell.location, order, value});
}

struct Litmus {
  Cell x, y;
  Cell seen[4];
  Data data;
};
using World = std::shared_ptr<Litmus>;

/// Whether some schedule ends with seen == outcome. Each program is a process of its own; the judge waits for
/// all.
bool is_possible(std::vector<std::function<void(Litmus&)>> programs, std::vector<std::uint64_t> outcome) {
  const auto report = explore(make_scenario<Litmus>("litmus", [&](const World& world) {
    Programs all;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      all.push_back({[world, program = programs[i]] { program(*world); }, static_cast<std::uint8_t>(i)});
    }
    all.push_back({[world, count = programs.size(), outcome] {
                     for (std::size_t i = 0; i < count; ++i) await_exit(i);
                     bool equal = true;
                     for (std::size_t i = 0; i < outcome.size(); ++i)
                       equal &= peek(world->seen[i]) == outcome[i];
                     expect(!equal, "outcome");
                   },
                   static_cast<std::uint8_t>(programs.size())});
    return all;
  }));
  EXPECT_TRUE(report.failure.empty() || report.failure == "litmus: outcome") << report.failure;
  return !report.failure.empty();
}

bool store_buffering(std::memory_order write, std::memory_order read) {
  return is_possible({[=](Litmus& w) { store(w.x, 1, write), poke(w.seen[0], load(w.y, read)); },
                      [=](Litmus& w) { store(w.y, 1, write), poke(w.seen[1], load(w.x, read)); }},
                     {0, 0});
}

TEST(ModelTest, StoreBufferingNeedsSeqCstOnAllFour) {
  EXPECT_TRUE(store_buffering(kRelease, kAcquire));
  EXPECT_TRUE(store_buffering(kSeqCst, kAcquire));
  EXPECT_TRUE(store_buffering(kRelease, kSeqCst));
  EXPECT_FALSE(store_buffering(kSeqCst, kSeqCst));
}

bool message_passing(std::memory_order write, std::memory_order read) {
  return is_possible(
      {[=](Litmus& w) { store(w.x, 1, kRelaxed), store(w.y, 1, write); },
       [=](Litmus& w) { poke(w.seen[0], load(w.y, read)), poke(w.seen[1], load(w.x, kRelaxed)); }},
      {1, 0});
}

TEST(ModelTest, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_TRUE(message_passing(kRelaxed, kAcquire));
  EXPECT_TRUE(message_passing(kRelease, kRelaxed));
  EXPECT_FALSE(message_passing(kRelease, kAcquire));
}

/// 2+2W, seen by a third thread: each location's last write is the one that its thread made first.
bool crosswise_writes(std::memory_order write) {
  return is_possible({[=](Litmus& w) { store(w.x, 1, write), store(w.y, 2, write); },
                      [=](Litmus& w) { store(w.y, 1, write), store(w.x, 2, write); },
                      [=](Litmus& w) {
                        poke(w.seen[0], load(w.x, kRelaxed)), poke(w.seen[1], load(w.x, kRelaxed));
                        poke(w.seen[2], load(w.y, kRelaxed)), poke(w.seen[3], load(w.y, kRelaxed));
                      }},
                     {2, 1, 2, 1});
}

TEST(ModelTest, OnlySeqCstOrdersWritesToTwoPlaces) {
  EXPECT_TRUE(crosswise_writes(kRelaxed));
  EXPECT_TRUE(crosswise_writes(kRelease));
  EXPECT_FALSE(crosswise_writes(kSeqCst));
}

TEST(ModelTest, OneLocationIsCoherent) {
  const auto writer = [](Litmus& w) { store(w.x, 1, kRelaxed), store(w.x, 2, kRelaxed); };
  const auto reader = [](Litmus& w) {
    poke(w.seen[0], load(w.x, kRelaxed)), poke(w.seen[1], load(w.x, kRelaxed));
  };
  EXPECT_FALSE(is_possible({writer, reader}, {2, 1}));
  EXPECT_FALSE(is_possible({writer, reader}, {1, 0}));
  EXPECT_TRUE(is_possible({writer, reader}, {0, 1}));
}

TEST(ModelTest, NoLoadReadsWhatWasNotYetWritten) {
  const auto left = [](Litmus& w) { poke(w.seen[0], load(w.x, kRelaxed)), store(w.y, 1, kRelaxed); };
  const auto right = [](Litmus& w) { poke(w.seen[1], load(w.y, kRelaxed)), store(w.x, 1, kRelaxed); };
  EXPECT_FALSE(is_possible({left, right}, {1, 1}));
}

TEST(ModelTest, ReadModifyWritesAreAtomicAndContinueAReleaseSequence) {
  const auto adder = [](int place) {
    return [place](Litmus& w) { poke(w.seen[place], add(w.x, 1, kRelaxed)); };
  };
  EXPECT_FALSE(is_possible({adder(0), adder(1)}, {0, 0}));
  EXPECT_FALSE(is_possible({adder(0), adder(1)}, {1, 1}));
  const auto publisher = [](Litmus& w) { store(w.y, 1, kRelaxed), add(w.x, 1, kRelease); };
  const auto between = [](Litmus& w) { add(w.x, 10, kRelaxed); };
  const auto reader = [](Litmus& w) {
    poke(w.seen[0], load(w.x, kAcquire)), poke(w.seen[1], load(w.y, kRelaxed));
  };
  EXPECT_FALSE(is_possible({publisher, between, reader}, {11, 0}));
  EXPECT_TRUE(is_possible({publisher, between, reader}, {10, 0}));
}

bool races(std::memory_order write, std::memory_order read) {
  const auto report = explore(make_scenario<Litmus>("race", [=](const World& w) {
    return Programs{{[=] { w->data.write(1), store(w->x, 1, write); }, 0},
                    {[=] {
                       if (load(w->x, read) == 1) expect(w->data.read() == 1, "value");
                     },
                     1}};
  }));
  return report.failure == "race: data race: read beside a write";
}

TEST(ModelTest, DataWithoutOrderIsARace) {
  EXPECT_FALSE(races(kRelease, kAcquire));
  EXPECT_TRUE(races(kRelaxed, kAcquire));
  EXPECT_TRUE(races(kRelease, kRelaxed));
}

TEST(ModelTest, AWriteMustComeAfterAllReads) {
  const auto report_of = [](std::memory_order order) {
    return explore(make_scenario<Litmus>("reuse", [=](const World& w) {
      return Programs{{[=] { (void)w->data.read(), add(w->x, 1, order); }, 0},
                      {[=] {
                         if (load(w->x, kAcquire) == 1) w->data.write(2);
                       },
                       1}};
    }));
  };
  EXPECT_EQ(report_of(kRelease).failure, "");
  EXPECT_EQ(report_of(kAcqRel).failure, "");
  EXPECT_EQ(report_of(kRelaxed).failure, "reuse: data race: write beside a read");
}

TEST(ModelTest, DeathCanComeBetweenAnyTwoSteps) {
  const auto after = [](std::uint64_t x, std::uint64_t y) {
    const auto programs = [=](const World& w) {
      return Programs{{[=] { poke(w->x, 1), poke(w->y, 1); }, 0},
                      {[=] { await_exit(0), expect(peek(w->x) != x || peek(w->y) != y, "outcome"); }, 1}};
    };
    return !explore(make_scenario<Litmus>("death", programs, 1)).failure.empty();
  };
  EXPECT_TRUE(after(0, 0));
  EXPECT_TRUE(after(1, 0));
  EXPECT_TRUE(after(1, 1));
  EXPECT_FALSE(after(0, 1));
}

}  // namespace
}  // namespace kvtier::explore
