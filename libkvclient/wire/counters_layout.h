#pragma once
// The mapped counters file: readable by `kvctl stat` without the daemon's help, so also when it hangs.
//
//   offset 0          CountersHeader, 512 bytes; `version` is published last
//   metadata_offset   counters_count x CounterMetadata: what each counter is, constant after publication
//   values_offset     values: one 64-bit word a counter, grouped by writer so that no two writers share a line
//   errors_offset     errors_max x ErrorRecord: each distinct error once
//
// Every value has one writer, which uses relaxed stores: a reader sees each word whole, and no order between
// words.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kvtier {

inline constexpr std::uint64_t kCountersMagic = 0x31524e43'5645544bULL;
inline constexpr std::uint32_t kCountersVersion = 1;

enum class CounterKind : std::uint32_t { kCounter = 1, kGauge = 2 };

struct CountersHeader {
  std::uint64_t magic;
  std::atomic<std::uint32_t> version;  ///< 0 until the file is complete
  std::uint32_t header_bytes;
  std::uint64_t file_bytes;
  std::uint32_t pid;
  std::uint32_t counters_count;
  std::uint32_t errors_max;
  std::uint32_t reserved;
  std::uint64_t metadata_offset;
  std::uint64_t values_offset;
  std::uint64_t values_bytes;
  std::uint64_t errors_offset;
  std::uint64_t start_monotonic_ns;
  std::uint64_t start_realtime_ns;
  char program_version[32];
  char instance[64];
  char padding[72];
  std::atomic<std::uint64_t> heartbeat_ns;        ///< CLOCK_MONOTONIC of the conductor's last round
  std::atomic<std::uint64_t> errors_other_count;  ///< errors for which no record was left
  char padding_end[240];
};
static_assert(sizeof(CountersHeader) == 512 && offsetof(CountersHeader, heartbeat_ns) == 256);

struct CounterMetadata {
  std::uint32_t id;
  CounterKind kind;
  std::uint64_t value_offset;  ///< from the beginning of the file
  char name[48];
  char unit[16];
  char help[176];
};
static_assert(sizeof(CounterMetadata) == 256);
static_assert(std::is_trivially_copyable_v<CounterMetadata>);

/// Published by the first release store to `count`; after it only `count` and `last_realtime_ns` change.
struct ErrorRecord {
  std::atomic<std::uint64_t> count;  ///< 0: not used yet
  std::atomic<std::uint64_t> last_realtime_ns;
  std::uint64_t first_realtime_ns;
  std::uint32_t level;
  std::uint32_t text_bytes;
  char text[480];
};
static_assert(sizeof(ErrorRecord) == 512);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

}  // namespace kvtier
