#pragma once
// The index of the directory: 32-bit words, probed linearly, with one writer; each leads to an entry line
// that never moves while it lives. Word: the low bits are the entry's number + 1, the bits above a
// fingerprint of the key; 0: empty. Sixteen words share a cache line, so that a search at half load costs one
// miss here and one at the entry.
//
// Deletion shifts later words back (no tombstones): each is stored in its new place before its old place is
// overwritten. A reader misses it only if it passed the new place before and came to the old place after: the
// shift count, odd while words move, tells it to search again.

#include <cstdint>

#include "libkvclient/wire/entry_line.h"

namespace kvtier {

enum class Probe : std::uint8_t {
  kHit,
  kMiss,    ///< not there; final unless words were moved meanwhile
  kUnsure,  ///< an entry on the way was being written all the time
};

template <class Memory>
struct EntryIndex {
  using Word = typename Memory::Cell32;
  using Shift = typename Memory::Cell64;

  // ---- reader ----

  /// Searches the words from `home` to the first empty one, at most up to `end`, for the fingerprint (the
  /// bits of `fingerprint` outside `number_mask`), and asks read_entry(number) about each entry that has it.
  template <class ReadEntry>
  static Probe find(const Word* home, const Word* end, std::uint32_t fingerprint, std::uint32_t number_mask,
                    ReadEntry&& read_entry) {
    Probe miss = Probe::kMiss;
    for (const Word* place = home; place != end; ++place) {
      // acquire: a word that took the place of one that moved away brings the odd shift count along.
      const std::uint32_t word = Memory::load(*place, at<Site::kIndexLoad>);
      if (word == 0) break;
      if (((word ^ fingerprint) & ~number_mask) != 0) continue;
      const LineRead read = read_entry((word & number_mask) - 1);
      if (read == LineRead::kMatch) return Probe::kHit;
      if (read == LineRead::kTorn) miss = Probe::kUnsure;
    }
    return miss;
  }

  /// Opens a search. Odd: words are being moved now.
  static std::uint64_t shift_begin(const Shift& shift) {
    // acquire: who sees that a move has ended sees the words where it put them.
    return Memory::load(shift, at<Site::kShiftBegin>);
  }
  /// Whether no word was moved since shift_begin returned `begun`: only then is a miss final.
  static bool shift_stable(const Shift& shift, std::uint64_t begun) {
    // relaxed: the acquire loads of find are before it and brought the odd count along, if any was to see.
    return (begun & 1) == 0 && Memory::load(shift, at<Site::kShiftRecheck>) == begun;
  }

  // ---- the only writer ----

  static std::uint32_t own(const Word& word) {
    // relaxed: the only writer reads its own last store.
    return Memory::load(word, at<Site::kIndexOwnLoad>);
  }

  static void put(Word& place, std::uint32_t word) {
    // release: a reader that finds the former word gone must see the shift count that was opened before; and
    // one that finds a new word, its entry.
    Memory::store(place, word, at<Site::kIndexStore>);
  }

  static void shift_open(Shift& shift) {
    const std::uint64_t count = Memory::load(shift, at<Site::kIndexOwnLoad>);
    // relaxed: the stores of the move are releases and have this one before them. (Odd already: a dead
    // writer's.)
    Memory::store(shift, count + 1 + (count & 1), at<Site::kShiftOpen>);
  }
  static void shift_close(Shift& shift) {
    // release: the moved words are before the even count.
    Memory::store(shift, Memory::load(shift, at<Site::kIndexOwnLoad>) + 1, at<Site::kShiftClose>);
  }

  /// Takes the word at `hole` out: each later word of the cluster whose home (home_of(word), a place) is not
  /// behind the hole moves into it and leaves a new hole. `end` is the end of the index.
  template <class HomeOf>
  static void remove(Word* hole, const Word* end, Shift& shift, HomeOf&& home_of) {
    bool shifting = false;
    for (Word* place = hole + 1; place != end; ++place) {
      const std::uint32_t word = own(*place);
      if (word == 0) break;
      if (home_of(word) > hole) continue;
      if (!shifting) shift_open(shift);
      shifting = true;
      put(*hole, word);
      hole = place;
    }
    put(*hole, 0);
    if (shifting) shift_close(shift);
  }
};

}  // namespace kvtier
