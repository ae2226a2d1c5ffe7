#pragma once
// A channel: the memory that one client shares with the daemon. One memfd:
// header page, submission ring, completion ring, stock, access log, request arena, pin counters (WIRE.md,
// "Channel"). Its geometry is compiled in but for the pin region; the daemon never believes a cursor or a
// size found in it.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "libkvclient/wire/commands.h"
#include "libkvclient/wire/limits.h"
#include "libkvclient/wire/stock.h"

namespace kvtier {

inline constexpr std::uint32_t kChannelMagic = 0x4348564b;  // "KVHC"
inline constexpr std::uint32_t kChannelLayoutVersion = 1;

using SharedU32 = std::atomic<std::uint32_t>;
static_assert(SharedU32::is_always_lock_free && sizeof(SharedU32) == 4);

struct ChannelHeader {
  std::uint32_t magic;
  std::uint32_t layout_version;
  std::uint64_t session_id;
  std::uint64_t pins_bytes;
  std::uint8_t reserved[40];

  alignas(64) SharedU32 submission_tail;  ///< client: records published
  alignas(64) SharedU32 submission_head;  ///< daemon: records consumed
  alignas(64) SharedU32
      completion_tail;  ///< daemon: records published; the futex that waiting client threads sleep on
  alignas(64) SharedU32 completion_head;  ///< client: records consumed
  alignas(64) SharedU32 daemon_sleeps;   ///< daemon: 1 while it may block; the client then rings the doorbell
  alignas(64) SharedU32 client_waiters;  ///< client: threads that may be asleep on completion_tail
  alignas(64) SharedU32 stock_refills;   ///< daemon: kStock commands carried out, whatever came of them
  std::uint8_t padding[4096 - 8 * 64];
};
static_assert(sizeof(ChannelHeader) == 4096);

struct ChannelLayout {
  static constexpr std::uint64_t kSubmissions = 4096;
  static constexpr std::uint64_t kCompletions = kSubmissions + kSubmissionEntries * sizeof(Submission);
  static constexpr std::uint64_t kStock =
      kCompletions + std::uint64_t{kCompletionEntries} * sizeof(Completion);
  static constexpr std::uint64_t kAccessLog = kCompletions + std::uint64_t{kCompletionEntries} * 32;
  static constexpr std::uint64_t kAccessLogBytes = 4096 + std::uint64_t{kAccessLogEntries} * 32;
  static constexpr std::uint64_t kArena = kAccessLog + kAccessLogBytes;
  static constexpr std::uint64_t kPins =
      kArena + kArenaBytes;  ///< uint32 a slot; a slab's part is at its pins_offset

  static constexpr std::uint64_t bytes_for(std::uint64_t pins_bytes) { return kPins + pins_bytes; }
};
static_assert(ChannelLayout::kStock % 4096 == 0 &&
              ChannelLayout::kStock + kStockBytes == ChannelLayout::kAccessLog);
static_assert(ChannelLayout::kCompletions % 4096 == 0 && ChannelLayout::kAccessLog % 4096 == 0);
static_assert(ChannelLayout::kArena % 4096 == 0 && ChannelLayout::kPins % 4096 == 0);

}  // namespace kvtier
