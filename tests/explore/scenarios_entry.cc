// The directory: entry lines under their seqlock, and the index with its shifts.
#include "libkvclient/wire/entry_index.h"
#include "libkvclient/wire/entry_line.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

using Line = EntryLine<ModelMemory, 1, 2>;
using Index = EntryIndex<ModelMemory>;
using Programs = std::vector<Program>;

constexpr std::uint32_t kTag = 1;
constexpr std::uint64_t kKey = 5;
constexpr std::uint64_t kOtherKey = 6;

/// Words that belong together are equal, and at least `lowest`.
void read_pair(const Line& line, std::uint64_t key, std::uint64_t lowest, std::uint64_t highest) {
  Line::ValueWords words{};
  if (line.read(kTag, {key}, words) != LineRead::kMatch) return;
  expect(words[0] == words[1], "torn entry");
  expect(words[0] >= lowest && words[0] <= highest, "value of another key");
}

struct OneLine {
  Line line;
};

Scenario entry_update() {
  return make_scenario<OneLine>("entry_update", [](const std::shared_ptr<OneLine>& world) {
    const auto writer = [world] {
      world->line.write(kTag, {kKey}, {1, 1});
      world->line.write(kTag, {kKey}, {2, 2});
    };
    const auto reader = [world] { read_pair(world->line, kKey, 1, 2); };
    return Programs{{reader, 0}, {reader, 1}, {writer, 2}};
  });
}

Scenario entry_reuse() {
  return make_scenario<OneLine>("entry_reuse", [](const std::shared_ptr<OneLine>& world) {
    const auto writer = [world] {
      world->line.write(kTag, {kKey}, {1, 1});
      world->line.clear();
      world->line.write(kTag, {kOtherKey}, {7, 7});
    };
    const auto reader = [world] { read_pair(world->line, kKey, 1, 1); };
    const auto other_reader = [world] { read_pair(world->line, kOtherKey, 7, 7); };
    return Programs{{reader, 0}, {other_reader, 1}, {writer, 2}};
  });
}

struct LineAndWord {
  Line line;
  ModelMemory::Cell32 words[2];
};

Scenario insert_publishes_entry() {
  return make_scenario<LineAndWord>("insert_publishes_entry", [](const std::shared_ptr<LineAndWord>& world) {
    const auto writer = [world] {
      world->line.write(kTag, {kKey}, {1, 1});
      Index::put(world->words[0], 0x11);
    };
    const auto reader = [world] {
      Index::find(world->words, world->words + 2, 0x10, 0xf, [&](std::uint32_t) {
        Line::ValueWords words{};
        const LineRead read = world->line.read(kTag, {kKey}, words);
        expect(read == LineRead::kMatch, "the index leads to an entry that is not there yet");
        return read;
      });
    };
    return Programs{{reader, 0}, {writer, 2}};
  });
}

/// Three entries with one home, fingerprints 1, 2, 3 and numbers 0, 1, 2.
struct Cluster {
  ModelMemory::Cell32 words[4]{0x11, 0x22, 0x33, 0};
  ModelMemory::Cell64 shift;
};

std::function<void()> finder_of_third(const std::shared_ptr<Cluster>& world) {
  return [world] {
    const std::uint64_t begun = Index::shift_begin(world->shift);
    const auto read_entry = [](std::uint32_t number) {
      expect(number == 2, "the index leads to another entry");
      return LineRead::kMatch;
    };
    if (Index::find(world->words, world->words + 4, 0x30, 0xf, read_entry) == Probe::kHit) return;
    expect(!Index::shift_stable(world->shift, begun), "final miss of an entry that is there");
  };
}

ModelMemory::Cell32* home_of_all(Cluster& world) {
  return &world.words[0];
}

template <class Remove>
Scenario index_shift_with(const char* name, Remove remove) {
  return make_scenario<Cluster>(name, [remove](const std::shared_ptr<Cluster>& world) {
    const auto writer = [world, remove] {
      remove(*world);                     // the first; the third comes to place 1
      Index::put(world->words[2], 0x44);  // another takes its place
      remove(*world);                     // the second; the third comes to place 0
    };
    return Programs{{finder_of_third(world), 0}, {writer, 2}};
  });
}

Scenario index_shift() {
  return index_shift_with("index_shift", [](Cluster& world) {
    Index::remove(&world.words[0], world.words + 4, world.shift,
                  [&](std::uint32_t) { return home_of_all(world); });
  });
}

// ---- mistakes ----

Scenario reader_does_not_recheck() {
  return make_scenario<OneLine>("reader_does_not_recheck", [](const std::shared_ptr<OneLine>& world) {
    const auto writer = [world] {
      world->line.write(kTag, {kKey}, {1, 1});
      world->line.write(kTag, {kKey}, {2, 2});
    };
    const auto reader = [world] {
      if ((ModelMemory::load(world->line.head, at<Site::kEntryBegin>) & 1) != 0) return;
      const std::uint64_t first = ModelMemory::load(world->line.value[0], at<Site::kEntryLoad>);
      expect(first == ModelMemory::load(world->line.value[1], at<Site::kEntryLoad>), "torn entry");
    };
    return Programs{{reader, 0}, {writer, 2}};
  });
}

Scenario writer_does_not_open() {
  return make_scenario<OneLine>("writer_does_not_open", [](const std::shared_ptr<OneLine>& world) {
    const auto writer = [world] {
      world->line.write(kTag, {kKey}, {1, 1});
      for (auto& word : world->line.value) ModelMemory::store(word, 2, at<Site::kEntryStore>);
      ModelMemory::store(world->line.head, Line::head_of(4, kTag), at<Site::kEntryClose>);
    };
    const auto reader = [world] { read_pair(world->line, kKey, 1, 2); };
    return Programs{{reader, 0}, {writer, 2}};
  });
}

template <class Move>
void remove_first(Cluster& world, Move move) {
  const std::uint32_t second = Index::own(world.words[1]);
  const std::uint32_t third = Index::own(world.words[2]);
  Index::put(world.words[0], second);
  move(world, third);
}

Scenario shift_counted_afterwards() {
  return index_shift_with("shift_counted_afterwards", [](Cluster& world) {
    remove_first(world, [](Cluster& same, std::uint32_t third) {
      Index::put(same.words[1], third);
      Index::put(same.words[2], 0);
      Index::shift_open(same.shift);
      Index::shift_close(same.shift);
    });
  });
}

Scenario shift_clears_before_it_copies() {
  return make_scenario<Cluster>("shift_clears_before_it_copies", [](const std::shared_ptr<Cluster>& world) {
    const auto writer = [world] {
      remove_first(*world, [](Cluster& same, std::uint32_t third) {
        Index::put(same.words[2], 0);
        Index::put(same.words[1], third);
      });
    };
    return Programs{{finder_of_third(world), 0}, {writer, 2}};
  });
}

}  // namespace

std::vector<Scenario> entry_scenarios() {
  return {insert_publishes_entry(), index_shift(), entry_update(), entry_reuse()};
}

std::vector<Scenario> broken_entry_scenarios() {
  return {reader_does_not_recheck(), writer_does_not_open(), shift_counted_afterwards(),
          shift_clears_before_it_copies()};
}

}  // namespace kvtier::explore
