#pragma once
// How the daemon learns of hits that sent no message: a bounded, lossy ring in channel memory. The threads of
// one client append, never wait and overwrite the oldest; the daemon drains, counts what it lost, and takes
// every word for a lie. Layout: MEMORY.md.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/wire/order_sites.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

enum class AccessTier : std::uint8_t { kHost = 0, kGpu = 1, kDisk = 2 };

/// One acquired run: the run ends at `last`, the other count - 1 blocks are its ancestors.
struct AccessRecord {
  SlotRef last;
  std::uint16_t count = 0;  ///< a longer run says 65535: the rest are ancestors of ancestors
  AccessTier tier = AccessTier::kHost;
  std::uint8_t flags = 0;
  std::uint32_t time_ms = 0;     ///< coarse monotonic milliseconds, modulo 2^32
  std::uint64_t request_id = 0;  ///< low 48 bits

  friend bool operator==(const AccessRecord&, const AccessRecord&) = default;
};

/// The ring itself, as a template for the explorer. Position p is written by who claimed it; its lap, p /
/// capacity + 1, stands in 16 bits of each word, so that words of two laps never pass for one record: a
/// producer that slept for a lap may write over a newer record at any time.
template <class Memory>
struct AccessLogProtocol {
  using Cell = typename Memory::Cell64;
  static constexpr unsigned kWords = 3;
  static constexpr std::uint64_t kPayloadMask = (std::uint64_t{1} << 48) - 1;
  using Words = std::array<std::uint64_t, kWords>;  ///< 48 bits of payload each

  struct Record {
    Cell sequence;  ///< position + 1, written last
    Cell words[kWords];
  };
  enum class Take : std::uint8_t { kTaken, kNotYet, kLost };

  static std::uint64_t claim(Cell& tail) {
    // relaxed: only gives each position to one producer; a record's own sequence says when it is there.
    return Memory::fetch_add(tail, 1U, at<Site::kLogClaim>);
  }

  static void put(Record& record, std::uint64_t position, std::uint64_t lap, const Words& words) {
    for (unsigned i = 0; i < kWords; ++i) {
      // relaxed: the lap in each word, not an order, tells the consumer what belongs together.
      Memory::store(record.words[i], tagged(words[i], lap), at<Site::kLogStore>);
    }
    // release: who sees the sequence sees these words, or later ones.
    Memory::store(record.sequence, position + 1, at<Site::kLogPublish>);
  }

  static Take take(const Record& record, std::uint64_t position, std::uint64_t lap, Words& words) {
    // acquire: the words of that claim are visible, so one that carries another lap is a newer one.
    const std::uint64_t sequence = Memory::load(record.sequence, at<Site::kLogSequence>);
    if (sequence != position + 1) return sequence > position + 1 ? Take::kLost : Take::kNotYet;
    for (unsigned i = 0; i < kWords; ++i) {
      // relaxed: see put.
      const std::uint64_t word = Memory::load(record.words[i], at<Site::kLogLoad>);
      words[i] = word & kPayloadMask;
      if (word != tagged(words[i], lap)) return Take::kLost;
    }
    return Take::kTaken;
  }

  static std::uint64_t tail(const Cell& cell) {
    // relaxed: says how far to look; what is there is each record's own matter.
    return Memory::load(cell, at<Site::kLogTail>);
  }

 private:
  static constexpr std::uint64_t tagged(std::uint64_t payload, std::uint64_t lap) {
    return (payload & kPayloadMask) | (lap << 48);
  }
};

using AccessLogRing = AccessLogProtocol<SharedMemory>;
static_assert(sizeof(AccessLogRing::Record) == 32);

struct alignas(64) AccessLogHeader {
  SharedMemory::Cell64 tail;  ///< positions claimed; producers
  std::byte reserved0[56];
  SharedMemory::Cell64 consumed;    ///< positions drained; the daemon writes it and never reads it back
  SharedMemory::Cell32 wake_asked;  ///< 1: a producer has asked for a wake-up since the last drain
  std::byte reserved1[52];
};
static_assert(sizeof(AccessLogHeader) == 128 && offsetof(AccessLogHeader, consumed) == 64);

struct AccessLogLayout {
  /// `capacity` records, a power of two.
  static constexpr std::size_t bytes_for(std::size_t capacity) {
    return sizeof(AccessLogHeader) + capacity * sizeof(AccessLogRing::Record);
  }
};

/// A client's side. Thread-safe. Owns no memory. Memory: zero-filled, 64-byte aligned, bytes_for(capacity).
class AccessLogProducer {
 public:
  AccessLogProducer() = default;
  AccessLogProducer(std::span<std::byte> memory, std::size_t capacity);

  /// Never waits. True about once per drain, when the ring is half full: then wake the daemon.
  [[nodiscard]] bool append(const AccessRecord& record) const;

 private:
  [[nodiscard]] bool wants_wakeup(std::uint64_t position) const;

  AccessLogHeader* header_ = nullptr;
  AccessLogRing::Record* records_ = nullptr;
  std::uint64_t capacity_ = 0;
  unsigned capacity_log2_ = 0;
};

/// The daemon's side. Not thread-safe. It believes nothing but the memory's address: the position and the
/// capacity are its own.
class AccessLogConsumer {
 public:
  AccessLogConsumer() = default;
  /// Starts where the daemon before it stopped, as far as the ring still has it.
  AccessLogConsumer(std::span<std::byte> memory, std::size_t capacity);

  /// Copies out at most out.size() records, oldest first; the caller range-checks `last` and `count`. Less
  /// than out.size(): drained. A record whose producer stopped half-way is waited for until the next drain,
  /// then lost.
  std::size_t drain(std::span<AccessRecord> out);

  /// Records overwritten before they were read, torn, or given up, since the start. A client can make it any
  /// number.
  [[nodiscard]] std::uint64_t lost_count() const { return lost_count_; }

 private:
  enum class Step : std::uint8_t { kTaken, kLost, kWait };
  void skip_overwritten(std::uint64_t tail);
  Step take_next(AccessRecord& record);

  AccessLogHeader* header_ = nullptr;
  AccessLogRing::Record* records_ = nullptr;
  std::uint64_t capacity_ = 0;
  unsigned capacity_log2_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t waited_for_ = ~std::uint64_t{0};  ///< the position that was incomplete at the last drain
  std::uint64_t lost_count_ = 0;
};

}  // namespace kvtier
