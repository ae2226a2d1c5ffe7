#pragma once
// Lines of cells under a seqlock each, probed linearly, with one writer: the lock-free part of the directory,
// as a template so that the explorer runs it too. Word 0 of a line: bits 0..31 sequence (odd: being written),
// bits 32..63 tag (0: empty). Then the words of the key and of the value.
//
// There are no fences: the words of a line are stored with release and loaded with acquire, which costs
// nothing on x86, and which ThreadSanitizer, blind to fences, can follow.
//
// A 32-bit sequence repeats after 2^31 writes of one line. A reader would have to sleep between two loads for
// just that many: half an hour at a million writes a second of the same line. Accepted.

#include <array>
#include <cstdint>

#include "libkvclient/wire/order_sites.h"

namespace kvtier {

enum class Probe : std::uint8_t {
  kHit,     ///< a consistent copy was read
  kMiss,    ///< not there; final unless lines were moved meanwhile
  kUnsure,  ///< a line on the way was being written all the time
};

template <class Memory, unsigned kKeyWords, unsigned kValueWords>
struct EntryTable {
  using Cell = typename Memory::Cell64;
  using KeyWords = std::array<std::uint64_t, kKeyWords>;
  using ValueWords = std::array<std::uint64_t, kValueWords>;
  struct Line {
    Cell head;
    Cell key[kKeyWords];
    Cell value[kValueWords];
  };

  static constexpr std::uint32_t sequence_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
  static constexpr std::uint32_t tag_of(std::uint64_t head) { return static_cast<std::uint32_t>(head >> 32); }
  static constexpr std::uint64_t head_of(std::uint32_t sequence, std::uint32_t tag) {
    return sequence | (std::uint64_t{tag} << 32);
  }

  // ---- reader ----

  /// Looks at the lines from `home` to the first empty one, at most up to `end`.
  static Probe find(const Line* home, const Line* end, std::uint32_t tag, const KeyWords& key,
                    ValueWords& value) {
    Probe miss = Probe::kMiss;
    for (const Line* line = home; line != end; ++line) {
      switch (read(*line, tag, key, value)) {
        case Read::kMatch:
          return Probe::kHit;
        case Read::kEmpty:
          return miss;
        case Read::kTorn:
          miss = Probe::kUnsure;
          break;
        case Read::kOther:
          break;
      }
    }
    return miss;
  }

  /// Opens a search. Odd: lines are being moved now.
  static std::uint64_t shift_begin(const Cell& shift) {
    // acquire: who sees that a move has ended sees the lines where it put them.
    return Memory::load(shift, at<Site::kShiftBegin>);
  }
  /// Whether no line was moved since shift_begin returned `begun`: only then is a miss final.
  static bool shift_stable(const Cell& shift, std::uint64_t begun) {
    // relaxed: a line that was emptied by a move was read with acquire and brought the odd count along.
    return (begun & 1) == 0 && Memory::load(shift, at<Site::kShiftRecheck>) == begun;
  }

  // ---- the only writer ----

  static std::uint64_t own(const Cell& cell) {
    // relaxed: the only writer reads its own last store.
    return Memory::load(cell, at<Site::kEntryOwnLoad>);
  }

  static void write(Line& line, std::uint32_t tag, const KeyWords& key, const ValueWords& value) {
    const std::uint64_t head = own(line.head);
    // A line that a dead writer left odd goes on to the next odd number.
    const std::uint32_t open = sequence_of(head) + 1 + (sequence_of(head) & 1);
    // relaxed: each store below is a release and has this one before it.
    Memory::store(line.head, head_of(open, tag_of(head)), at<Site::kEntryOpen>);
    // release: a reader that sees a new word sees the odd sequence too when it looks again.
    for (unsigned i = 0; i < kKeyWords; ++i) Memory::store(line.key[i], key[i], at<Site::kEntryStore>);
    for (unsigned i = 0; i < kValueWords; ++i) Memory::store(line.value[i], value[i], at<Site::kEntryStore>);
    // release: a reader that begins with the new even sequence sees all new words.
    Memory::store(line.head, head_of(open + 1, tag), at<Site::kEntryClose>);
  }

  static void clear(Line& line) {
    const std::uint32_t sequence = sequence_of(own(line.head));
    // One store: the sequence goes on, so that a reader in the middle starts again. release: who finds the
    // line empty because its content was moved sees the odd shift count and the content's new place.
    Memory::store(line.head, head_of(sequence + 2 - (sequence & 1), 0), at<Site::kEntryClear>);
  }

  /// Copies `from` over `to`; `from` is then rewritten or cleared by the caller, inside the same open shift.
  static void move(Line& to, const Line& from) {
    KeyWords key;
    ValueWords value;
    for (unsigned i = 0; i < kKeyWords; ++i) key[i] = own(from.key[i]);
    for (unsigned i = 0; i < kValueWords; ++i) value[i] = own(from.value[i]);
    write(to, tag_of(own(from.head)), key, value);
  }

  static void shift_open(Cell& shift) {
    const std::uint64_t count = own(shift);
    // relaxed: the stores of the move are releases and have this one before them.
    Memory::store(shift, count + 1 + (count & 1), at<Site::kShiftOpen>);
  }
  static void shift_close(Cell& shift) {
    // release: the moved lines are before the even count.
    Memory::store(shift, own(shift) + 1, at<Site::kShiftClose>);
  }

 private:
  enum class Read : std::uint8_t { kMatch, kEmpty, kOther, kTorn };

  static Read read(const Line& line, std::uint32_t tag, const KeyWords& key, ValueWords& value) {
    for (unsigned spin = 0; spin <= Memory::kSpinsMax; ++spin) {
      // acquire: with an even sequence come all words of that write.
      const std::uint64_t head = Memory::load(line.head, at<Site::kEntryBegin>);
      if ((sequence_of(head) & 1) == 0) [[likely]] {
        if (tag_of(head) == 0) return Read::kEmpty;
        // Another key needs no second look at the sequence: if the line held ours before, it was removed or
        // moved, and the shift count tells of a move.
        if (tag_of(head) != tag || !same_key(line, key)) return Read::kOther;
        // acquire: a word of a later write brings that write's odd sequence to the re-check.
        for (unsigned i = 0; i < kValueWords; ++i)
          value[i] = Memory::load(line.value[i], at<Site::kEntryLoad>);
        // relaxed: ordered after the acquire loads above; coherence does the rest.
        if (Memory::load(line.head, at<Site::kEntryRecheck>) == head) [[likely]]
          return Read::kMatch;
      }
      Memory::pause();
    }
    return Read::kTorn;
  }

  static bool same_key(const Line& line, const KeyWords& key) {
    for (unsigned i = 0; i < kKeyWords; ++i) {
      // acquire: as for the words of the value.
      if (Memory::load(line.key[i], at<Site::kEntryLoad>) != key[i]) return false;
    }
    return true;
  }
};

}  // namespace kvtier
