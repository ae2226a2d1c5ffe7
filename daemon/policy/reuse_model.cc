#include "daemon/policy/reuse_model.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kvtier {
namespace {

using ByAge = std::array<double, ReuseModel::kAges>;

constexpr std::uint32_t kUses = 3;
constexpr std::uint32_t kDepths = 4;

// Ages are cut at 9 s and every half octave above; the last begins after three days and a half.
constexpr double kFirstAgeMs = 6400;
constexpr double kAgesPerOctave = 2;
constexpr WrappingMs kGapUnitMs = 100;

// Blocks of a class that are worth as much as the average of all classes: a young class starts there.
constexpr double kPrior = 200;
// Lessons come after so many uses, the first ones sooner; each time what is known fades: by a tenth in a million uses.
constexpr double kFading = 0.9995;
constexpr double kLeftMin = 0.001;  // so few of a class count for nothing
constexpr std::uint32_t kEventsFirst = 500;
constexpr std::uint32_t kEventsMost = 5'000;
constexpr std::uint32_t kClassesACall = 36;
static_assert(ReuseModel::kClasses % kClassesACall == 0);

// The largest uses / time over all times to keep it; compared without a division.
double best_worth(const ByAge& hazards, const ByAge& spans, std::uint32_t from) {
  double uses = 0;
  double time = 0;
  double left = 1;
  double best_uses = 0;
  double best_time = 1;
  for (std::uint32_t age = from; age < ReuseModel::kAges && left > kLeftMin; ++age) {
    uses += left * hazards[age];
    time += left * spans[age];
    left *= 1 - hazards[age];
    if (uses * best_time <= best_uses * time) continue;
    best_uses = uses;
    best_time = time;
  }
  return best_uses / best_time;
}

}  // namespace

ReuseModel::ReuseModel()
    : counts_(kCells),
      counts_of_all_{},
      worths_(kCells),
      order_(kCells),
      by_rank_(kCells),
      ranks_(kCells),
      events_due_(kEventsFirst) {
  for (std::uint32_t age = 0; age < kAges; ++age)
    age_ends_[age] = static_cast<WrappingMs>(kFirstAgeMs * std::exp2((age + 1) / kAgesPerOctave));
  learn();
}

ReuseModel::Cell ReuseModel::cell_of(const ReuseTraits& traits) {
  const std::uint32_t uses = std::min<std::uint32_t>(traits.uses, kUses - 1);
  const std::uint32_t depth =
      std::min<std::uint32_t>(std::bit_width(std::uint32_t{traits.depth}), kDepths - 1);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(traits.gap_ms / kGapUnitMs));
  const std::uint32_t gap = traits.has_gap ? 1 + std::min(octave, kGaps - 2) : 0;
  if (traits.hint != UseHint::kNone) {
    const std::uint32_t hint = static_cast<std::uint32_t>(traits.hint) - 1;
    return static_cast<Cell>((kPlainClasses + hint * kGaps + gap) * kAges);
  }
  return static_cast<Cell>(((uses * kDepths + depth) * kGaps + gap) * kAges);
}

void ReuseModel::got_to(Cell cell) {
  ++counts_[cell].got_to;
  ++counts_of_all_[cell % kAges].got_to;
}

void ReuseModel::take_back(Cell cell) {
  counts_[cell].got_to = std::max(0.0, counts_[cell].got_to - 1);
  counts_of_all_[cell % kAges].got_to = std::max(0.0, counts_of_all_[cell % kAges].got_to - 1);
}

void ReuseModel::used_again(Cell cell) {
  ++counts_[cell].used_again;
  ++counts_of_all_[cell % kAges].used_again;
  ++events_;
}

double ReuseModel::hazard(std::uint32_t class_index, std::uint32_t age) const {
  const Count& all = counts_of_all_[age];
  const double average = all.got_to > 0 ? all.used_again / all.got_to : 0;
  const Count& own = counts_[class_index * kAges + age];
  return std::min(1.0, (own.used_again + kPrior * average) / (own.got_to + kPrior));
}

// For each age the best of all times to keep a block from there on: expected uses over expected time, where a block that
// is used again at some age was kept through half of it.
void ReuseModel::weigh(std::uint32_t class_index) {
  ByAge hazards;
  ByAge spans;
  for (std::uint32_t age = 0; age < kAges; ++age) {
    hazards[age] = hazard(class_index, age);
    spans[age] = (age_ends_[age] - (age == 0 ? 0 : age_ends_[age - 1])) * (1 - hazards[age] / 2);
  }
  for (std::uint32_t from = 0; from < kAges; ++from)
    worths_[class_index * kAges + from] = best_worth(hazards, spans, from);
}

bool ReuseModel::learn_some() {
  if (events_ < events_due_) return false;
  for (std::uint32_t i = 0; i < kClassesACall; ++i) weigh(next_class_++);
  if (next_class_ < kClasses) return false;
  end_lesson();
  return true;
}

void ReuseModel::learn() {
  for (std::uint32_t i = 0; i < kClasses; ++i) weigh(i);
  end_lesson();
}

void ReuseModel::end_lesson() {
  rank();
  if (events_due_ == kEventsMost) fade();
  if (events_ >= events_due_) events_due_ = std::min(kEventsMost, events_due_ * 2);
  events_ = next_class_ = 0;
}

// The least worth first; of equal ones, of which nothing is known, the older. One number a cell: the leading bits of its
// worth, which is not negative, so that they are in its order; its age; itself.
void ReuseModel::rank() {
  constexpr std::uint32_t kCellBits = std::bit_width(kCells - 1);
  constexpr std::uint32_t kAgeBits = std::bit_width(kAges - 1);
  constexpr std::uint64_t kBehindWorth = (std::uint64_t{1} << (kCellBits + kAgeBits)) - 1;
  for (std::uint32_t cell = 0; cell < kCells; ++cell) {
    const std::uint64_t youth = kAges - 1 - cell % kAges;
    order_[cell] =
        (std::bit_cast<std::uint64_t>(worths_[cell]) & ~kBehindWorth) | (youth << kCellBits) | cell;
  }
  std::sort(order_.begin(), order_.end());
  for (std::uint32_t rank = 0; rank < kCells; ++rank) {
    by_rank_[rank] = static_cast<Cell>(order_[rank] & ((1U << kCellBits) - 1));
    ranks_[by_rank_[rank]] = static_cast<std::uint16_t>(rank);
  }
}

void ReuseModel::fade() {
  for (Count& count : counts_) count = {count.got_to * kFading, count.used_again * kFading};
  for (Count& count : counts_of_all_) count = {count.got_to * kFading, count.used_again * kFading};
}

}  // namespace kvtier
