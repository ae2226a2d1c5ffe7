#pragma once
// Counter ids, and where each value lies: computed from the table at compile time.

#include <array>
#include <cstdint>
#include <string_view>

#include "daemon/observe/counter_table.h"
#include "libkvclient/wire/counters_layout.h"

namespace kvtier {

/// The agent that stores a counter. kAny: several threads, by atomic addition.
enum class CounterWriter : std::uint8_t { kConductor, kDisk, kCopy, kBackground, kAny };
inline constexpr unsigned kCounterWriters = 5;

#define KV_COUNTER_ID(id, writer, kind, name, unit, help) id,
enum class Counter : std::uint16_t { KV_COUNTER_TABLE(KV_COUNTER_ID) };
#undef KV_COUNTER_ID

struct CounterInfo {
  std::string_view id;
  CounterWriter writer;
  CounterKind kind;
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};

#define KV_COUNTER_INFO(id, writer, kind, name, unit, help) \
  CounterInfo{#id, CounterWriter::writer, CounterKind::kind, name, unit, help},
inline constexpr auto kCounterInfos = std::to_array<CounterInfo>({KV_COUNTER_TABLE(KV_COUNTER_INFO)});
#undef KV_COUNTER_INFO

inline constexpr std::size_t kCounterCount = kCounterInfos.size();
/// Two cache lines: what the adjacent-line prefetcher makes two writers share.
inline constexpr std::size_t kWriterGroupBytes = 128;

struct CounterPlaces {
  std::array<std::uint32_t, kCounterCount> word{};  ///< index of the counter's 64-bit word
  std::uint32_t words = 0;
};

/// Words grouped by writer, each group on lines of its own.
constexpr CounterPlaces place_counters() {
  constexpr std::uint32_t kWordsPerGroup = kWriterGroupBytes / sizeof(std::uint64_t);
  CounterPlaces places;
  for (unsigned writer = 0; writer < kCounterWriters; ++writer) {
    for (std::size_t i = 0; i < kCounterCount; ++i) {
      if (static_cast<unsigned>(kCounterInfos[i].writer) == writer) places.word[i] = places.words++;
    }
    places.words = (places.words + kWordsPerGroup - 1) / kWordsPerGroup * kWordsPerGroup;
  }
  return places;
}
inline constexpr CounterPlaces kCounterPlaces = place_counters();

}  // namespace kvtier
