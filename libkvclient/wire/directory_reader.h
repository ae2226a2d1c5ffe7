#pragma once
// A client's side of a directory. A find takes no lock and sends no message. A false miss is possible (an entry
// that is written or moved all the time), a false hit is not.
//
// The passes of a lookup are inline: a call a key would be a tenth of their cost.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "libkvclient/wire/directory.h"
#include "libkvclient/wire/directory_trail.h"

namespace kvtier {

/// Keys to look up in one go: enough to overlap their memory latencies, few enough for their lines to stay in
/// L1.
inline constexpr std::size_t kDirectoryChunk = 32;
/// Searches of one find: each repeats only because a removal moved entries meanwhile.
inline constexpr unsigned kDirectoryFindsMax = 8;

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
  /// of keys looked up. `trail`, where there is one, leads to the same keys again.
  template <class OnFind, class OnChunk>
  std::size_t find_chunks(SpaceId space, std::span<const Key> keys, OnFind&& on_find, OnChunk&& on_chunk,
                          DirectoryTrail* trail = nullptr) const;
  /// The same, with the first two passes spared: straight to the entries that the trail names. It must lead to
  /// these keys: trail.leads(id(), keys).
  template <class OnFind, class OnChunk>
  std::size_t find_along(const DirectoryTrail& trail, SpaceId space, std::span<const Key> keys,
                         OnFind&& on_find, OnChunk&& on_chunk) const;
  /// Which directory this is, for trails.
  [[nodiscard]] const void* id() const { return header_; }

  /// All keys: at[i] is a default Residency where there is none. Returns how many were found. For callers
  /// without passes of their own. at.size() >= keys.size().
  std::size_t find_batch(SpaceId space, std::span<const Key> keys, std::span<Residency> at) const;

  [[nodiscard]] bool is_moved() const { return header_->moved.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] std::uint64_t capacity() const { return hash_.capacity; }

 private:
  [[nodiscard]] LineRead read_entry(std::uint32_t number, SpaceId space, const Key& key,
                                    DirectoryLine::ValueWords& words) const {
    // The daemon is trusted; the check turns a daemon's bug into a miss for the price of a predicted branch.
    if (number >= hash_.capacity || space == SpaceId::kNone) [[unlikely]]
      return LineRead::kOther;
    return lines_[number].read(directory_tag(space), key.words, words);
  }
  template <class ReadEntry>
  [[nodiscard]] bool search(const Home& home, const ReadEntry& read_entry) const;

  const DirectoryHeader* header_ = nullptr;
  const DirectoryIndex::Word* index_ = nullptr;
  const DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
};

template <class OnFind, class OnChunk>
std::size_t DirectoryReader::find_chunks(SpaceId space, std::span<const Key> keys, OnFind&& on_find,
                                         OnChunk&& on_chunk, DirectoryTrail* trail) const {
  if (trail != nullptr) trail->begin(id());
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
    if (trail != nullptr) trail->note(first, chunk_at(first), here);
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

template <class OnFind, class OnChunk>
std::size_t DirectoryReader::find_along(const DirectoryTrail& trail, SpaceId space, std::span<const Key> keys,
                                        OnFind&& on_find, OnChunk&& on_chunk) const {
  for (std::size_t first = 0; first < keys.size(); first += kDirectoryChunk) {
    const std::size_t count = std::min(kDirectoryChunk, keys.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Key& key = keys[first + i];
      DirectoryLine::ValueWords words;
      Residency at;
      bool found = read_entry(trail.number(first + i), space, key, words) == LineRead::kMatch;
      if (found) [[likely]]
        at = residency_unpack(words);
      else
        found = find(space, key, at);
      if (on_find(first + i, found, at)) continue;
      on_chunk(first, i + 1);
      return first + i + 1;
    }
    on_chunk(first, count);
  }
  return keys.size();
}

inline void DirectoryReader::prefetch_entries(std::span<Home> homes) const {
  for (Home& home : homes) {
    const DirectoryIndex::Word* place = &index_[home.place];
    for (const DirectoryIndex::Word* end = place + kDirectoryWindow; place != end; ++place) {
      // relaxed: a hint. What find_at reads there is checked like any other entry.
      const std::uint32_t word = place->load(std::memory_order_relaxed);
      if (word == 0) break;
      if (((word ^ home.fingerprint) & ~hash_.number_mask) != 0) continue;
      home.hint = (word & hash_.number_mask) - 1;
      __builtin_prefetch(&lines_[home.hint]);
      break;
    }
  }
}

inline bool DirectoryReader::find_at(Home home, SpaceId space, const Key& key, Residency& at) const {
  DirectoryLine::ValueWords words;
  const auto read = [&](std::uint32_t number) { return read_entry(number, space, key, words); };
  // An entry that reads as this key is the answer, whichever way led to it. All else needs a full search.
  if (read(home.hint) != LineRead::kMatch && !search(home, read)) return false;
  at = residency_unpack(words);
  return true;
}

template <class ReadEntry>
bool DirectoryReader::search(const Home& home, const ReadEntry& read_entry) const {
  const DirectoryIndex::Word* const place = &index_[home.place];
  for (unsigned attempt = 0; attempt < kDirectoryFindsMax; ++attempt) {
    const std::uint64_t begun = DirectoryIndex::shift_begin(header_->shift);
    const Probe probe = DirectoryIndex::find(place, place + kDirectoryWindow, home.fingerprint,
                                             hash_.number_mask, read_entry);
    if (probe == Probe::kHit) return true;
    if (probe == Probe::kUnsure || DirectoryIndex::shift_stable(header_->shift, begun)) return false;
  }
  return false;
}

}  // namespace kvtier
