#pragma once
// The directory of a namespace: where each block is, in memory that the daemon writes (directory_writer.h) and
// clients map read-only (directory_reader.h). Here is what both agree on. Layout: MEMORY.md.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

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
    const std::uint64_t words = 2 * capacity;
    const auto place = static_cast<std::uint64_t>((static_cast<Wide>(mixed * kOdd) * words) >> 64);
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

/// Residency as the value words of an entry, and back.
DirectoryLine::ValueWords residency_pack(const Residency& at);
inline Residency residency_unpack(const DirectoryLine::ValueWords& words) {
  Residency at;
  at.host = {{static_cast<std::uint32_t>(words[2])}, words[0] & kGenerationMax};
  at.gpu = {{static_cast<std::uint32_t>(words[2] >> 32)}, words[1] & kGenerationMax};
  at.host_flags = static_cast<std::uint32_t>(words[0] >> kGenerationBits);
  at.gpu_flags = static_cast<std::uint32_t>(words[1] >> kGenerationBits);
  return at;
}

/// Stored in the header's magic.
inline constexpr std::uint64_t kDirectoryMagic = 0x726964726569746bULL;  // "ktierdir"
/// The header of a directory that someone else formatted: kVersion or kCorrupt with both sides.
Result<DirectoryHash> directory_check_header(std::span<const std::byte> memory);
/// "directory WHAT: expected OURS, found FOUND"
Status directory_mismatch(const std::string& what, std::uint64_t ours, std::uint64_t found,
                          Code code = Code::kCorrupt);

inline std::uint32_t directory_tag(SpaceId space) {
  return static_cast<std::uint32_t>(space);
}

}  // namespace kvtier
