// Seeded faults of the disks below a whole store: it opens or refuses, serves no wrong byte, takes new blocks, and
// counts each refusal by its cause. The last line of the output is a JSON object with the counts. R-06, C-06, D-15, D-16.
// KVTIER_SIM_SEED replays one seed, KVTIER_SIM_SEEDS runs so many.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "tests/sim/disk_mishap.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kShapes = 50;
constexpr std::uint64_t kSeeds = 1'200;  // the long run, tools/bars.sh disk_faults: 10,000

/// What came of the faults of one kind.
struct Outcome {
  std::uint64_t faults = 0;
  std::uint64_t refused = 0;  ///< the store stayed shut
  std::uint64_t read = 0;     ///< blocks, every byte compared
  std::uint64_t misses = 0;   ///< blocks that the index named and a read refused
  std::uint64_t absent = 0;   ///< blocks of the unharmed store that the index did not name
  std::uint64_t wrong = 0;
  std::array<std::uint64_t, kDiskFaultCount> causes{};

  void add(const Outcome& more) {
    faults += more.faults;
    refused += more.refused;
    read += more.read;
    misses += more.misses;
    absent += more.absent;
    wrong += more.wrong;
    for (std::size_t i = 0; i < causes.size(); ++i) causes[i] += more.causes[i];
  }
  [[nodiscard]] std::uint64_t noticed() const {
    std::uint64_t sum = refused;
    for (std::size_t i = 1; i < causes.size(); ++i) sum += causes[i];
    return sum;
  }
};

std::uint64_t from_environment(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

class Reader {
 public:
  Reader(const DiskImages& images, std::uint64_t seed)
      : disk_(disk_of(images, seed)), sim_(disk_, disk_shape_options(), images.size()) {}

  bool open() { return sim_.open(); }
  /// The disks are other ones from now on.
  void change(const DiskImages& images) {
    for (std::size_t i = 0; i < images.size(); ++i)
      disk_.image(disk_.open("path" + std::to_string(i))) = images[i];
  }
  SimStore& sim() { return sim_; }

  /// Reads all keys; how many are right.
  std::uint64_t read_all(const DiskShape& shape, Outcome& outcome) {
    std::uint64_t right = 0;
    for (const DiskKey& key : shape.keys) {
      const Code code = sim_.read(key);
      right += code == Code::kOk ? 1 : 0;
      outcome.misses += code != Code::kOk && code != Code::kNotFound ? 1 : 0;
    }
    outcome.read += right;
    return right;
  }

 private:
  SimDisk disk_;
  SimStore sim_;
};

struct Unharmed {
  DiskShape shape;
  std::uint64_t blocks = 0;
};

const Unharmed& unharmed(std::uint64_t seed) {
  static std::array<std::optional<Unharmed>, kShapes> all;
  std::optional<Unharmed>& one = all[seed % kShapes];
  if (!one.has_value()) {
    one.emplace(Unharmed{make_disk_shape(seed % kShapes), 0});
    Reader reader(one->shape.now, 1);
    EXPECT_TRUE(reader.open()) << reader.sim().store().status().to_string();
    Outcome outcome;
    one->blocks = reader.read_all(one->shape, outcome);
    EXPECT_EQ(outcome.misses + reader.sim().wrong_bytes, 0U) << "nothing happened to it";
  }
  return *one;
}

// A store that opened takes blocks and gives them back, with faults of before still in it. A path that was refused or a
// full one may say no.
void work_on(SimStore& sim) {
  for (std::uint64_t i = 1000; i < 1012; ++i) {
    if (sim.put_one(sim_key(i)) != Code::kOk) continue;
    const Code code = sim.read(sim_key(i));
    EXPECT_TRUE(code == Code::kOk || code == Code::kNotFound || code == Code::kStale) << code_name(code);
  }
  (void)sim.flush_now();
}

Outcome suffer(StoreMishap mishap, std::uint64_t seed) {
  const Unharmed& good = unharmed(seed);
  Prng chance(seed * 31 + 7);
  DiskImages images = good.shape.now;
  inflict(mishap, good.shape, chance, images);
  // Most happen between two lives, some while the store serves.
  const bool is_late = seed / kStoreMishapCount % 4 == 0;
  Outcome outcome{.faults = 1};
  Reader reader(is_late ? good.shape.now : images, seed);
  if (!reader.open()) {
    outcome.refused = 1;
    EXPECT_FALSE(is_late);
    EXPECT_FALSE(reader.sim().store().status().message().empty()) << "a refusal says why";
    return outcome;
  }
  if (is_late) reader.change(images);
  const std::uint64_t right = reader.read_all(good.shape, outcome);
  outcome.absent = good.blocks > right + outcome.misses ? good.blocks - right - outcome.misses : 0;
  work_on(reader.sim());
  outcome.wrong = reader.sim().wrong_bytes;
  outcome.causes = reader.sim().store().stats().faults;
  return outcome;
}

void print(const std::array<Outcome, kStoreMishapCount>& by_kind, const Outcome& sum) {
  std::printf(
      "{\"bench\": \"disk_faults\", \"faults\": %lu, \"wrong_blocks\": %lu, \"blocks_read\": %lu, "
      "\"misses\": %lu, "
      "\"absent\": %lu, \"stores_refused\": %lu",
      sum.faults, sum.wrong, sum.read, sum.misses, sum.absent, sum.refused);
  for (std::size_t i = 0; i < kStoreMishapCount; ++i) {
    const std::string name(store_mishap_name(static_cast<StoreMishap>(i)));
    std::printf(", \"%s\": %lu, \"%s_noticed\": %lu", name.c_str(), by_kind[i].faults, name.c_str(),
                by_kind[i].noticed());
  }
  for (std::size_t i = 1; i < kDiskFaultCount; ++i) {
    const std::string name(disk_fault_name(static_cast<DiskFault>(i)));
    std::printf(", \"cause_%s\": %lu", name.c_str(), sum.causes[i]);
  }
  std::printf("}\n");
}

TEST(DiskFaults, NoFaultServesAWrongByteOrEndsTheStore_R06_C06_D16) {
  const std::uint64_t only = from_environment("KVTIER_SIM_SEED", 0);
  const std::uint64_t seeds = only != 0 ? only : from_environment("KVTIER_SIM_SEEDS", kSeeds);
  std::array<Outcome, kStoreMishapCount> by_kind{};
  Outcome sum;
  for (std::uint64_t seed = only != 0 ? only : 1; seed <= seeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("KVTIER_SIM_SEED=" + std::to_string(seed));
    const std::size_t kind = seed % kStoreMishapCount;
    const Outcome outcome = suffer(static_cast<StoreMishap>(kind), seed);
    EXPECT_EQ(outcome.wrong, 0U) << store_mishap_name(static_cast<StoreMishap>(kind));
    by_kind[kind].add(outcome);
    sum.add(outcome);
  }
  print(by_kind, sum);
  if (sum.faults < kSeeds) return;
  EXPECT_GT(sum.read, 50 * kSeeds) << "most blocks of most stores are unharmed";
  for (std::size_t i = 0; i < kStoreMishapCount; ++i)
    EXPECT_GT(by_kind[i].noticed(), kSeeds / 60) << store_mishap_name(static_cast<StoreMishap>(i));
  for (const DiskFault cause : {DiskFault::kTruncated, DiskFault::kEmpty, DiskFault::kForeign,
                                DiskFault::kHeaderDamaged, DiskFault::kOtherStore, DiskFault::kMisplaced,
                                DiskFault::kStale, DiskFault::kPayloadDamaged, DiskFault::kIndexDamaged})
    EXPECT_GT(sum.causes[static_cast<std::size_t>(cause)], 1U) << disk_fault_name(cause);
}

}  // namespace
}  // namespace kvtier::test
