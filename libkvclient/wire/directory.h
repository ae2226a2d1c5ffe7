#pragma once
// The directory of a namespace: where each block is, in memory that the daemon writes and clients map
// read-only. A find takes no lock and sends no message. A false miss is possible (an entry that is written or
// moved all the time), a false hit is not. Layout: MEMORY.md.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/wire/entry_index.h"
#include "libkvclient/wire/entry_line.h"
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
/// Index words that a search may look at. The index is at most half full, so that a search that long is met
/// once in 10^10 inserts, with the mixing hash; the insert then says no_space.
inline constexpr std::uint32_t kDirectoryWindow = 128;
/// Leaves five bits of a word of the index to the fingerprint.
inline constexpr std::uint64_t kDirectoryCapacityMax = (std::uint64_t{1} << 27) - 1;
/// Keys to look up in one go: enough to overlap their memory latencies, few enough for their lines to stay in
/// L1.
inline constexpr std::size_t kDirectoryChunk = 32;

using DirectoryLine = EntryLine<SharedMemory, 4, 3>;
using DirectoryIndex = EntryIndex<SharedMemory>;
static_assert(sizeof(DirectoryLine) == 64 && sizeof(DirectoryIndex::Word) == 4);

/// The first page.
struct alignas(64) DirectoryHeader {
  std::uint64_t magic;
  SharedMemory::Cell64 version;  ///< stored last, with release
  std::uint64_t capacity;        ///< entries
  std::uint64_t seed;            ///< of the hash
  std::byte reserved0[32];
  SharedMemory::Cell64 moved;  ///< 1: a larger directory took over; ask the daemon for it
  std::byte reserved1[56];
  SharedMemory::Cell64 shift;  ///< odd while words of the index are moved
  std::byte reserved2[4096 - 136];
};
static_assert(sizeof(DirectoryHeader) == 4096);
static_assert(offsetof(DirectoryHeader, version) == 8 && offsetof(DirectoryHeader, seed) == 24);
static_assert(offsetof(DirectoryHeader, moved) == 64 && offsetof(DirectoryHeader, shift) == 128);

/// Header page, index, entries. 72 bytes a block.
struct DirectoryLayout {
  /// Two words an entry. The window after them saves a search from wrapping around.
  static constexpr std::uint64_t index_words(std::uint64_t capacity) {
    return 2 * capacity + kDirectoryWindow;
  }
  static constexpr std::size_t entries_offset(std::uint64_t capacity) {
    return sizeof(DirectoryHeader) + ((index_words(capacity) * sizeof(DirectoryIndex::Word) + 63) & ~63ULL);
  }
  static constexpr std::size_t bytes_for(std::uint64_t capacity) {
    return entries_offset(capacity) + capacity * sizeof(DirectoryLine);
  }
};

/// Where the search for a key starts, and what it looks for: a mixing hash over all of space and key, reduced
/// to the index by multiply and shift.
struct DirectoryHash {
  std::uint64_t seed = 0;
  std::uint64_t capacity = 0;
  std::uint32_t number_mask = 0;  ///< the bits of an index word that are the entry's number + 1

  static DirectoryHash of(std::uint64_t seed, std::uint64_t capacity) {
    return {seed, capacity, (1U << std::bit_width(capacity)) - 1};
  }

  static constexpr std::uint32_t kNoHint = ~std::uint32_t{0};
  struct Home {
    std::uint32_t place;        ///< index word
    std::uint32_t fingerprint;  ///< compared outside number_mask
    std::uint32_t hint;         ///< number of the first entry with that fingerprint, or kNoHint
  };
  [[nodiscard]] Home home(SpaceId space, const Key& key) const {
    const std::uint64_t left = fold(key.words[0] ^ seed, key.words[1] ^ 0x8bb84b93962eacc9ULL);
    const std::uint64_t right = fold(key.words[2] ^ 0x2d358dccaa6c78a5ULL, key.words[3] ^ seed);
    const std::uint64_t mixed = fold(left ^ 0x4b33a62ed433d4a3ULL, right ^ static_cast<std::uint64_t>(space));
    const auto place = static_cast<std::uint64_t>((static_cast<Wide>(mixed * kOdd) * (2 * capacity)) >> 64);
    return {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(mixed), kNoHint};
  }

 private:
  static constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;
  __extension__ using Wide = unsigned __int128;
  /// 64 x 64 multiplication with both halves and both factors folded in: no factor wipes the other out.
  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return (a ^ static_cast<std::uint64_t>(product)) ^ (b ^ static_cast<std::uint64_t>(product >> 64));
  }
};

/// The daemon's side. Not thread-safe: one agent owns it. Owns 4 bytes an entry, taken at the start.
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
  static DirectoryWriter over(std::span<std::byte> memory, const DirectoryHash& hash);
  /// The key's word in the index, or the empty place after its cluster, or null: its window is full.
  [[nodiscard]] DirectoryIndex::Word* find_word(SpaceId space, const Key& key) const;
  [[nodiscard]] DirectoryLine* find_line(SpaceId space, const Key& key) const;
  [[nodiscard]] DirectoryLine& line_of(std::uint32_t word) const {
    return lines_[(word & hash_.number_mask) - 1];
  }

  DirectoryHeader* header_ = nullptr;
  DirectoryIndex::Word* index_ = nullptr;
  DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
  std::vector<std::uint32_t> free_;  ///< entry numbers, a stack
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

  /// The passes of a fast batch, in chunks of kDirectoryChunk keys. find_chunks runs them; the parts are here
  /// for callers with a pipeline of their own:
  ///   1. prefetch_index;  2. prefetch_entries;
  ///   3. find_at each key, and prefetch the pin and the slot word that its residency leads to;
  ///   4. Pins::acquire each.
  using Home = DirectoryHash::Home;
  void prefetch_index(SpaceId space, std::span<const Key> keys, Home* homes) const {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      homes[i] = hash_.home(space, keys[i]);
      __builtin_prefetch(&index_[homes[i].place]);
    }
  }
  void prefetch_entries(std::span<Home> homes) const;
  /// `home` is what the passes before gave for this key, and nothing else.
  [[nodiscard]] bool find_at(Home home, SpaceId space, const Key& key, Residency& at) const;

  /// Runs the passes over any number of keys. on_find(index, found, residency) is pass 3: it returns whether
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
  template <class ReadEntry>
  [[nodiscard]] bool search(const Home& home, const ReadEntry& read_entry) const;

  const DirectoryHeader* header_ = nullptr;
  const DirectoryIndex::Word* index_ = nullptr;
  const DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
};

template <class OnFind, class OnChunk>
std::size_t DirectoryReader::find_chunks(SpaceId space, std::span<const Key> keys, OnFind&& on_find,
                                         OnChunk&& on_chunk) const {
  // Three chunks are under way: the entries of the next and the index words of the one after travel while
  // this one is read.
  std::array<std::array<Home, kDirectoryChunk>, 3> homes;
  const auto chunk_at = [keys](std::size_t first) {
    first = std::min(first, keys.size());
    return keys.subspan(first, std::min(kDirectoryChunk, keys.size() - first));
  };
  const auto homes_at = [&](std::size_t first) {
    return std::span<Home>(homes[(first / kDirectoryChunk) % 3]).first(chunk_at(first).size());
  };
  prefetch_index(space, chunk_at(0), homes_at(0).data());
  prefetch_index(space, chunk_at(kDirectoryChunk), homes_at(kDirectoryChunk).data());
  prefetch_entries(homes_at(0));
  for (std::size_t first = 0; first < keys.size(); first += kDirectoryChunk) {
    prefetch_index(space, chunk_at(first + 2 * kDirectoryChunk),
                   homes_at(first + 2 * kDirectoryChunk).data());
    prefetch_entries(homes_at(first + kDirectoryChunk));
    const std::span<const Home> here = homes_at(first);
    for (std::size_t i = 0; i < here.size(); ++i) {
      Residency at;
      const bool found = find_at(here[i], space, keys[first + i], at);
      if (on_find(first + i, found, at)) continue;
      on_chunk(first, i + 1);
      return first + i + 1;
    }
    on_chunk(first, here.size());
  }
  return keys.size();
}

}  // namespace kvtier
