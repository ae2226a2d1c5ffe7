// S3-FIFO against the algorithm of its paper, over plain queues: the same victim each time, whatever happens.

#include "daemon/policy/s3fifo_evictor.h"

#include <map>

#include "libkvclient/base/prng.h"
#include "tests/unit/policy/plain_queue.h"
#include "tests/unit/policy/small_cache.h"

namespace kvtier {
namespace {

constexpr std::uint64_t kNobody = 0;

class PlainS3Fifo {
 public:
  explicit PlainS3Fifo(double capacity)
      : capacity_(capacity), main_max_(capacity - capacity / 10), ghosts_max_(capacity * 9 / 10) {}

  std::uint64_t touch(std::uint64_t key) {
    if (small_.has(key) || main_.has(key)) {
      uses_[key] = std::min(3, uses_[key] + 1);
      return kNobody;
    }
    const std::uint64_t victim = small_.size() + main_.size() == capacity_ ? evict() : kNobody;
    uses_[key] = 0;
    (ghosts_.take(key) ? main_ : small_).push(key);
    return victim;
  }
  void invalidate(std::uint64_t key) { (void)(small_.take(key) || main_.take(key)); }

 private:
  std::uint64_t evict() {
    if (main_.size() > main_max_ || small_.size() == 0) return evict_main();
    while (small_.size() > 0) {
      const std::uint64_t key = small_.pop();
      if (uses_[key] < 2) {
        ghosts_.push(key);
        if (ghosts_.size() > ghosts_max_) ghosts_.pop();
        return key;
      }
      uses_[key] = 0;
      main_.push(key);
    }
    return evict_main();
  }
  std::uint64_t evict_main() {
    for (;;) {
      const std::uint64_t key = main_.pop();
      if (uses_[key] == 0) return key;
      --uses_[key];
      main_.push(key);
    }
  }

  double capacity_;
  double main_max_;
  double ghosts_max_;
  std::map<std::uint64_t, int> uses_;
  PlainQueue small_;
  PlainQueue main_;
  PlainQueue ghosts_;
};

TEST(S3FifoEvictor, AgreesWithThePaperOverARandomLife) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng chance(seed);
    SmallCache<S3FifoEvictor> cache(40);
    PlainS3Fifo model(40);
    for (int step = 0; step < 5000; ++step) {
      const std::uint64_t base = 1 + static_cast<std::uint64_t>(step) / 50;
      const std::uint64_t key = base + (chance.below(3) == 0 ? chance.below(500) : chance.below(30));
      if (chance.below(20) == 0 && cache.find(key) != BlockId::kNone) {
        cache.invalidate(key);
        model.invalidate(key);
        continue;
      }
      ASSERT_EQ(cache.touch(key), model.touch(key)) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(S3FifoEvictor, APassEndsWhenAllHaveUsesAndAreDeferred) {
  SmallCache<S3FifoEvictor> cache(8);
  for (int round = 0; round < 5; ++round) {
    for (std::uint64_t key = 1; key <= 8; ++key) (void)cache.touch(key);
  }
  S3FifoEvictor& s3fifo = cache.evictor();
  std::vector<std::uint64_t> seen;
  BlockId next = s3fifo.coldest();
  for (std::uint32_t i = 0; i < s3fifo.size() && next != BlockId::kNone; ++i) {
    const BlockId id = next;
    next = s3fifo.after(id);
    seen.push_back(cache.key_of(id));
    s3fifo.defer(id);
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(S3FifoEvictor, NoCapacityIsValid) {
  SmallCache<S3FifoEvictor> cache(4);
  cache.evictor().set_capacity(0);
  for (std::uint64_t key = 1; key <= 20; ++key) (void)cache.touch(key);
  EXPECT_EQ(order_of(cache.evictor()).size(), 4U);
}

}  // namespace
}  // namespace kvtier
