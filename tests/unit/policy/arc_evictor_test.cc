// ARC against the figure of its paper, over plain queues: the same victim each time, whatever happens.

#include "daemon/policy/arc_evictor.h"

#include "libkvclient/base/prng.h"
#include "tests/unit/policy/plain_queue.h"
#include "tests/unit/policy/small_cache.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kNobody = 0;

// As in the paper, but for the order: room is made before anybody knows which key comes.
class PlainArc {
 public:
  explicit PlainArc(double capacity) : capacity_(capacity) {}

  std::uint64_t touch(std::uint64_t key) {
    if (once_.take(key) || proven_.take(key)) {
      proven_.push(key);
      return kNobody;
    }
    const std::uint64_t victim = once_.size() + proven_.size() == capacity_ ? replace() : kNobody;
    if (once_ghosts_.has(key)) {
      target_ = std::min(capacity_, target_ + std::max(1.0, proven_ghosts_.size() / once_ghosts_.size()));
    } else if (proven_ghosts_.has(key)) {
      target_ = std::max(0.0, target_ - std::max(1.0, once_ghosts_.size() / proven_ghosts_.size()));
    }
    (once_ghosts_.take(key) || proven_ghosts_.take(key) ? proven_ : once_).push(key);
    trim();
    return victim;
  }
  void invalidate(std::uint64_t key) { (void)(once_.take(key) || proven_.take(key)); }

 private:
  std::uint64_t replace() {
    const bool is_once = once_.size() > target_ || proven_.size() == 0;
    const std::uint64_t victim = (is_once ? once_ : proven_).pop();
    (is_once ? once_ghosts_ : proven_ghosts_).push(victim);
    return victim;
  }
  void trim() {
    while (once_.size() + once_ghosts_.size() > capacity_ && once_ghosts_.size() > 0) once_ghosts_.pop();
    const auto all = [&] {
      return once_.size() + proven_.size() + once_ghosts_.size() + proven_ghosts_.size();
    };
    while (all() > 2 * capacity_ && proven_ghosts_.size() > 0) proven_ghosts_.pop();
  }

  double capacity_;
  double target_ = 0;
  PlainQueue once_;
  PlainQueue proven_;
  PlainQueue once_ghosts_;
  PlainQueue proven_ghosts_;
};

TEST(ArcEvictor, AgreesWithThePaperOverARandomLife) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng chance(seed);
    SmallCache<ArcEvictor> cache(40);
    PlainArc model(40);
    for (int step = 0; step < 5000; ++step) {
      // Many keys once, some again and again, and the working set moves; then keys from a set twice the room, so that one
      // ghost queue is much longer than the other.
      const std::uint64_t base = 1 + static_cast<std::uint64_t>(step) / 50;
      const std::uint64_t near = chance.below(3) == 0 ? chance.below(500) : chance.below(30);
      const std::uint64_t key = step / 700 % 2 == 0 ? base + near : 2000 + chance.below(80);
      if (chance.below(20) == 0 && cache.find(key) != BlockId::kNone) {
        cache.invalidate(key);
        model.invalidate(key);
        continue;
      }
      ASSERT_EQ(cache.touch(key), model.touch(key)) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(ArcEvictor, AScanLeavesWhatWasUsedTwice) {
  SmallCache<ArcEvictor> cache(10);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 1; key <= 5; ++key) (void)cache.touch(key);
  }
  for (std::uint64_t key = 100; key < 200; ++key) (void)cache.touch(key);
  for (std::uint64_t key = 1; key <= 5; ++key) EXPECT_NE(cache.find(key), BlockId::kNone) << key;
}

TEST(ArcEvictor, APassSeesEachBlockOnceAndThenThoseThatItDeferred) {
  SmallCache<ArcEvictor> cache(6);
  for (std::uint64_t key = 1; key <= 6; ++key) (void)cache.touch(key);
  for (std::uint64_t key = 5; key <= 6; ++key) (void)cache.touch(key);
  ArcEvictor& arc = cache.evictor();
  std::vector<std::uint64_t> seen;
  BlockId next = arc.coldest();
  for (std::uint32_t i = 0; i < arc.size(); ++i) {
    const BlockId id = next;
    next = arc.after(id);
    seen.push_back(cache.key_of(id));
    arc.defer(id);
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(order_of(arc).size(), 6U);
}

TEST(ArcEvictor, TheMarkGoesOnToTheNextOneWhenItsBlockLeavesOrMoves) {
  SmallCache<ArcEvictor> cache(4);
  for (std::uint64_t key = 1; key <= 4; ++key) (void)cache.touch(key);
  (void)cache.touch(4);  // the order is 1, 2, 3 and then 4
  ArcEvictor& arc = cache.evictor();
  arc.set_mark(arc.coldest());
  cache.invalidate(1);
  EXPECT_EQ(arc.mark(), cache.find(2));
  (void)cache.touch(2);
  EXPECT_EQ(arc.mark(), cache.find(3));
  cache.invalidate(3);
  EXPECT_EQ(arc.mark(), cache.find(4)) << "on the other list";
}

TEST(ArcEvictor, ASmallerClassForgetsAndGoesOn) {
  SmallCache<ArcEvictor> cache(20);
  for (std::uint64_t key = 1; key <= 100; ++key) (void)cache.touch(key);
  cache.evictor().set_capacity(0);
  EXPECT_NE(cache.touch(99 - 20), SmallCache<ArcEvictor>::kNobody);
  cache.evictor().set_capacity(20);
  EXPECT_EQ(order_of(cache.evictor()).size(), 20U);
}

}  // namespace
}  // namespace kvtier
