// The access log: producers that lap each other on a ring of one record, and a consumer.
#include "libkvclient/wire/access_log.h"
#include "tests/explore/scenarios.h"

namespace kvtier::explore {
namespace {

using Log = AccessLogProtocol<ModelMemory>;
using Programs = std::vector<Program>;

struct Ring {
  ModelMemory::Cell64 tail;
  Log::Record record;
};

Log::Words words_of(std::uint64_t position) {
  return {10 * position + 1, 10 * position + 2, 10 * position + 3};
}

void append(Ring& ring) {
  const std::uint64_t position = Log::claim(ring.tail);
  Log::put(ring.record, position, position + 1, words_of(position));
}

Scenario log_laps() {
  return make_scenario<Ring>("log_laps", [](const std::shared_ptr<Ring>& ring) {
    const auto producer = [ring] { append(*ring); };
    const auto consumer = [ring] {
      // Any position may be the consumer's next.
      const std::uint64_t position = choose(2);
      if (position >= Log::tail(ring->tail)) return;
      Log::Words words{};
      if (Log::take(ring->record, position, position + 1, words) != Log::Take::kTaken) return;
      expect(words == words_of(position), "words of two records");
    };
    return Programs{{producer, 0}, {producer, 0}, {consumer, 2}};
  });
}

Scenario log_delivers() {
  return make_scenario<Ring>("log_delivers", [](const std::shared_ptr<Ring>& ring) {
    const auto producer = [ring] { append(*ring); };
    const auto consumer = [ring] {
      Log::Words words{};
      const Log::Take taken = Log::take(ring->record, 0, 1, words);
      expect(taken != Log::Take::kLost, "a complete record that nobody overwrote is lost");
    };
    return Programs{{producer, 0}, {consumer, 2}};
  });
}

// ---- mistakes ----

Scenario log_without_laps() {
  return make_scenario<Ring>("log_without_laps", [](const std::shared_ptr<Ring>& ring) {
    const auto producer = [ring] {
      const std::uint64_t position = Log::claim(ring->tail);
      Log::put(ring->record, position, 0, words_of(position));
    };
    const auto consumer = [ring] {
      Log::Words words{};
      if (Log::take(ring->record, 1, 0, words) != Log::Take::kTaken) return;
      expect(words == words_of(1), "words of two records");
    };
    return Programs{{producer, 0}, {producer, 0}, {consumer, 2}};
  });
}

}  // namespace

std::vector<Scenario> log_scenarios() {
  return {log_delivers(), log_laps()};
}

std::vector<Scenario> broken_log_scenarios() {
  return {log_without_laps()};
}

}  // namespace kvtier::explore
