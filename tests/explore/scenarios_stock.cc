// The stock: who has an entry, and that the grant, the name and the slot are read and written by whoever has it only.
#include "libkvclient/wire/stock_word.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

using Words = StockWord<ModelMemory>;
using Programs = std::vector<Program>;

constexpr SpaceId kSpace{3};
constexpr std::uint64_t kName = 5;

/// One entry, and two slots: the grant says which, 0 or 1.
struct Entry {
  ModelMemory::Cell64 word;
  Data grant;
  Data name;
  Data slots[2];
  ModelMemory::Cell64 ring;
};

void offer(Entry& entry, std::uint64_t slot) {
  entry.grant.write(slot);
  Words::offer(entry.word, kSpace);
}

/// What is taken back is used by others, and the entry is granted again.
void take_back_and_offer_again(Entry& entry) {
  if (!Words::take_back(entry.word, kSpace)) return;
  entry.slots[0].write(1);
  offer(entry, 1);
}

/// Fills the slot that it got, or does without and puts it back.
void take_and_use(Entry& entry) {
  const std::uint64_t slot = entry.grant.read();
  entry.name.write(kName);
  if (choose(2) == 0) return Words::put_back(entry.word, kSpace);
  entry.slots[slot].write(2);
}

Scenario stock_changes_hands() {
  return make_scenario<Entry>("stock_changes_hands", [](const std::shared_ptr<Entry>& entry) {
    const auto daemon = [entry] {
      offer(*entry, 0);
      take_back_and_offer_again(*entry);
    };
    const auto client = [entry] {
      for (int i = 0; i < 2; ++i) {
        if (Words::is_offered(entry->word, kSpace) && Words::take(entry->word, kSpace)) take_and_use(*entry);
      }
    };
    return Programs{{client, 0}, {daemon, 2}};
  });
}

template <class Commit>
Scenario stock_commit_with(const char* name, Commit commit) {
  return make_scenario<Entry>(name, [commit](const std::shared_ptr<Entry>& entry) {
    const auto daemon = [entry] {
      offer(*entry, 0);
      receive(entry->ring, 1);
      expect(entry->name.read() == kName, "the key of another commit");
      entry->slots[0].write(1);  // published, evicted and given to another
      Words::clear(entry->word);
      offer(*entry, 1);
    };
    const auto client = [entry, commit] {
      if (!Words::take(entry->word, kSpace)) return;
      expect(entry->grant.read() == 0, "the grant of another offer");
      commit(*entry);
      if (!Words::take(entry->word, kSpace)) return;
      expect(entry->grant.read() == 1, "an old grant");
      entry->slots[1].write(2);
    };
    return Programs{{client, 0}, {daemon, 2}};
  });
}

Scenario stock_commit() {
  return stock_commit_with("stock_commit", [](Entry& entry) {
    entry.slots[0].write(2);
    entry.name.write(kName);
    send(entry.ring, 1);
  });
}

// ---- mistakes ----

Scenario stock_named_after_the_commit() {
  return stock_commit_with("stock_named_after_the_commit", [](Entry& entry) {
    entry.slots[0].write(2);
    send(entry.ring, 1);
    entry.name.write(kName);
  });
}

Scenario stock_offered_before_the_grant() {
  return make_scenario<Entry>("stock_offered_before_the_grant", [](const std::shared_ptr<Entry>& entry) {
    const auto daemon = [entry] {
      Words::offer(entry->word, kSpace);
      entry->grant.write(1);
    };
    const auto client = [entry] {
      if (Words::take(entry->word, kSpace)) (void)entry->grant.read();
    };
    return Programs{{client, 0}, {daemon, 2}};
  });
}

Scenario stock_taken_without_exchange() {
  return make_scenario<Entry>("stock_taken_without_exchange", [](const std::shared_ptr<Entry>& entry) {
    const auto daemon = [entry] {
      offer(*entry, 0);
      take_back_and_offer_again(*entry);
    };
    const auto client = [entry] {
      if (!Words::is_offered(entry->word, kSpace)) return;
      poke(entry->word, stock_word(kSpace, StockState::kTaken));
      entry->slots[0].write(2);
    };
    return Programs{{client, 0}, {daemon, 2}};
  });
}

/// The slot is written after the entry was put back.
Scenario stock_put_back_and_used() {
  return make_scenario<Entry>("stock_put_back_and_used", [](const std::shared_ptr<Entry>& entry) {
    const auto daemon = [entry] {
      offer(*entry, 0);
      take_back_and_offer_again(*entry);
    };
    const auto client = [entry] {
      if (!Words::take(entry->word, kSpace)) return;
      Words::put_back(entry->word, kSpace);
      entry->slots[0].write(2);
    };
    return Programs{{client, 0}, {daemon, 2}};
  });
}

}  // namespace

std::vector<Scenario> stock_scenarios() {
  return {stock_changes_hands(), stock_commit()};
}

std::vector<Scenario> broken_stock_scenarios() {
  return {stock_named_after_the_commit(), stock_offered_before_the_grant(), stock_taken_without_exchange(),
          stock_put_back_and_used()};
}

}  // namespace kvtier::explore
