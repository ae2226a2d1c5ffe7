#pragma once
// The directory of a namespace: where each block is, in memory that the daemon writes and clients map
// read-only. A find takes no lock and sends no message. A false miss is possible (an entry that is written or
// moved all the time), a false hit is not. Layout: MEMORY.md.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/base/result.h"
#include "libkvclient/wire/entry_table.h"
#include "libkvclient/wire/types.h"

namespace kvtier {

/// Each tier's generation shares its word with 24 flag bits. The directory stores them; these are taken:
enum ResidencyFlag : std::uint32_t {
  kFlagPending = 1U << 0,  ///< host flags: a client computes the block now; wait instead of computing twice
  kFlagDiskWriting = 1U << 1,  ///< host flags: on its way to NVMe
  kFlagOnDisk = 1U << 2,       ///< host flags: a durable copy is on NVMe
};
inline constexpr std::uint32_t kResidencyFlagsMask = (1U << 24) - 1;

/// Where the bytes of one block are.
struct Residency {
  Locator host{};
  Locator gpu{};
  std::uint32_t host_flags = 0;  ///< ResidencyFlag, 24 bits
  std::uint32_t gpu_flags = 0;   ///< 24 bits, none taken yet

  [[nodiscard]] bool is_pending() const { return (host_flags & kFlagPending) != 0; }
  [[nodiscard]] bool is_on_disk() const { return (host_flags & kFlagOnDisk) != 0; }
  friend bool operator==(const Residency&, const Residency&) = default;
};

struct EntryView {
  SpaceId space = SpaceId::kNone;
  Key key{};
  Residency at{};
};

inline constexpr std::uint32_t kDirectoryVersion = 1;
/// Lines that a search may look at. An insert that finds none free in them says no_space; at a load of 0.75
/// and with the mixing hash that takes about 250 million inserts.
inline constexpr std::uint32_t kDirectoryWindow = 512;
inline constexpr std::uint64_t kDirectoryCapacityMax = std::uint64_t{1} << 31;
/// Keys to look up in one go: enough to overlap their memory latencies, few enough for their lines to stay in
/// L1.
inline constexpr std::size_t kDirectoryChunk = 32;

using DirectoryTable = EntryTable<SharedMemory, 4, 3>;
using DirectoryLine = DirectoryTable::Line;
static_assert(sizeof(DirectoryLine) == 64);

/// The first page.
struct alignas(64) DirectoryHeader {
  std::uint64_t magic;
  SharedMemory::Cell64 version;  ///< stored last, with release
  std::uint64_t capacity;        ///< home lines; kDirectoryWindow more follow, so that no search wraps around
  std::uint64_t seed;            ///< of the hash
  std::byte reserved0[32];
  SharedMemory::Cell64 moved;  ///< 1: a larger directory took over; ask the daemon for it
  std::byte reserved1[56];
  SharedMemory::Cell64 shift;  ///< odd while lines are moved
  std::byte reserved2[4096 - 136];
};
static_assert(sizeof(DirectoryHeader) == 4096);
static_assert(offsetof(DirectoryHeader, version) == 8 && offsetof(DirectoryHeader, seed) == 24);
static_assert(offsetof(DirectoryHeader, moved) == 64 && offsetof(DirectoryHeader, shift) == 128);

struct DirectoryLayout {
  static constexpr std::size_t bytes_for(std::uint64_t capacity) {
    return sizeof(DirectoryHeader) + (capacity + kDirectoryWindow) * sizeof(DirectoryLine);
  }
  /// Capacity at which `blocks` entries are a load of 0.75.
  static constexpr std::uint64_t capacity_for(std::uint64_t blocks) { return blocks + blocks / 3 + 1; }
};

/// Home line of a key: a mixing hash over all of space and key, reduced to the capacity by multiply and
/// shift.
struct DirectoryHash {
  std::uint64_t seed = 0;
  std::uint64_t capacity = 0;

  [[nodiscard]] std::uint64_t home(SpaceId space, const Key& key) const {
    const std::uint64_t left = fold(key.words[0] ^ seed, key.words[1] ^ 0x8bb84b93962eacc9ULL);
    const std::uint64_t right = fold(key.words[2] ^ 0x2d358dccaa6c78a5ULL, key.words[3] ^ seed);
    const std::uint64_t mixed = fold(left ^ 0x4b33a62ed433d4a3ULL, right ^ static_cast<std::uint64_t>(space));
    return static_cast<std::uint64_t>((static_cast<Wide>(mixed * 0x9e3779b97f4a7c15ULL) * capacity) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  /// 64 x 64 multiplication with both halves and both factors folded in: no factor wipes the other out.
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return (a ^ static_cast<std::uint64_t>(product)) ^ (b ^ static_cast<std::uint64_t>(product >> 64));
  }
};

/// The daemon's side. Not thread-safe: one agent owns it. Cheap to move, owns no memory.
class DirectoryWriter {
 public:
  DirectoryWriter() = default;
  /// Formats zero-filled memory of at least bytes_for(capacity) bytes, page aligned.
  static Result<DirectoryWriter> create(std::span<std::byte> memory, std::uint64_t capacity,
                                        std::uint64_t seed);
  /// Takes over the directory of an earlier daemon: checks the header, then clears every entry (one may be
  /// half written or half moved). Attached readers go on and miss until the blocks are inserted again.
  static Result<DirectoryWriter> adopt(std::span<std::byte> memory);

  /// kExists: the key is there (update it). kNoSpace: its window is full. kInvalid: no space id, or a value
  /// that does not fit its bits.
  [[nodiscard]] Code insert(const EntryView& entry);
  /// kNotFound, or kInvalid as above.
  [[nodiscard]] Code update(SpaceId space, const Key& key, const Residency& at);
  [[nodiscard]] Code remove(SpaceId space, const Key& key);
  [[nodiscard]] bool find(SpaceId space, const Key& key, Residency& at) const;
  /// Brings the home line near; for batches of the calls above.
  void prefetch(SpaceId space, const Key& key) const;
  void clear();
  /// Tells readers that another directory took over.
  void mark_moved();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t capacity() const { return hash_.capacity; }

 private:
  DirectoryLine* find_line(SpaceId space, const Key& key) const;
  [[nodiscard]] std::uint64_t home_of(const DirectoryLine& line) const;
  void close_hole(DirectoryLine* hole);

  DirectoryHeader* header_ = nullptr;
  DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
  std::uint64_t size_ = 0;
};

/// A client's side. Thread-safe: nothing in it changes. Owns no memory.
class DirectoryReader {
 public:
  DirectoryReader() = default;
  /// Checks magic, version and capacity against the length of the mapping, once. kVersion or kCorrupt with
  /// both sides. After that nothing in the memory can lead a reader out of the mapping.
  static Result<DirectoryReader> attach(std::span<const std::byte> memory);

  [[nodiscard]] bool find(SpaceId space, const Key& key, Residency& at) const {
    return find_at(hash_.home(space, key), space, key, at);
  }

  /// The passes of a fast batch, in chunks of kDirectoryChunk keys:
  ///   1. prefetch_homes of the chunk (better: of the chunk after it, as find_chunks does);
  ///   2. find_at each key, and prefetch the pin and the slot word that its residency leads to;
  ///   3. Pins::acquire each.
  void prefetch_homes(SpaceId space, std::span<const Key> keys, std::uint32_t* homes) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::uint64_t home = hash_.home(space, keys[i]);
      homes[i] = static_cast<std::uint32_t>(home);
      __builtin_prefetch(&lines_[home]);
    }
  }
  /// `home` is what prefetch_homes gave for this key, and nothing else.
  bool find_at(std::uint64_t home, SpaceId space, const Key& key, Residency& at) const;

  /// Runs the passes over any number of keys. on_find(index, found, residency) is pass 2: it returns whether
  /// to look further (prefix match: `return found;`), and prefetches. on_chunk(first, count) is pass 3:
  /// called after the `count` keys of a chunk from index `first` were handed to on_find. Returns the number
  /// of keys looked up.
  template <class OnFind, class OnChunk>
  std::size_t find_chunks(SpaceId space, std::span<const Key> keys, OnFind&& on_find,
                          OnChunk&& on_chunk) const;

  /// All keys: at[i] is a default Residency where there is none. Returns how many were found. For callers
  /// without passes of their own. at.size() >= keys.size().
  std::size_t find_batch(SpaceId space, std::span<const Key> keys, std::span<Residency> at) const;

  [[nodiscard]] bool is_moved() const { return header_->moved.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] std::uint64_t capacity() const { return hash_.capacity; }

 private:
  const DirectoryHeader* header_ = nullptr;
  const DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
};

template <class OnFind, class OnChunk>
std::size_t DirectoryReader::find_chunks(SpaceId space, std::span<const Key> keys, OnFind&& on_find,
                                         OnChunk&& on_chunk) const {
  // Two chunks are under way: the lines of the next one travel while this one is read.
  std::array<std::uint32_t, kDirectoryChunk> homes[2];
  const auto chunk_at = [&](std::size_t first) {
    return first >= keys.size() ? std::span<const Key>{}
                                : keys.subspan(first, std::min(kDirectoryChunk, keys.size() - first));
  };
  prefetch_homes(space, chunk_at(0), homes[0].data());
  for (std::size_t first = 0, turn = 0; first < keys.size(); first += kDirectoryChunk, turn ^= 1) {
    prefetch_homes(space, chunk_at(first + kDirectoryChunk), homes[turn ^ 1].data());
    const std::size_t count = chunk_at(first).size();
    for (std::size_t i = 0; i < count; ++i) {
      Residency at;
      const bool found = find_at(homes[turn][i], space, keys[first + i], at);
      if (on_find(first + i, found, at)) continue;
      on_chunk(first, i + 1);
      return first + i + 1;
    }
    on_chunk(first, count);
  }
  return keys.size();
}

}  // namespace kvtier
