#pragma once
// A line of cells under a seqlock, with one writer: an entry of the directory, as a template so that the
// explorer runs it too. Head word: bits 0..31 sequence (odd: being written), bits 32..63 tag (0: empty). Then
// the words of the key and of the value.
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

enum class LineRead : std::uint8_t {
  kMatch,  ///< a consistent copy of the wanted key's value was read
  kOther,  ///< another key, or empty
  kTorn,   ///< it was being written each time
};

template <class Memory, unsigned kKeyWords, unsigned kValueWords>
struct EntryLine {
  using Cell = typename Memory::Cell64;
  using KeyWords = std::array<std::uint64_t, kKeyWords>;
  using ValueWords = std::array<std::uint64_t, kValueWords>;

  Cell head;
  Cell key[kKeyWords];
  Cell value[kValueWords];

  static constexpr std::uint32_t sequence_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }
  static constexpr std::uint32_t tag_of(std::uint64_t head) { return static_cast<std::uint32_t>(head >> 32); }
  static constexpr std::uint64_t head_of(std::uint32_t sequence, std::uint32_t tag) {
    return sequence | (std::uint64_t{tag} << 32);
  }

  // ---- reader ----

  LineRead read(std::uint32_t tag, const KeyWords& wanted, ValueWords& out) const {
    for (unsigned spin = 0; spin <= Memory::kSpinsMax; ++spin) {
      // acquire: with an even sequence come all words of that write.
      const std::uint64_t begun = Memory::load(head, at<Site::kEntryBegin>);
      if ((sequence_of(begun) & 1) == 0) [[likely]] {
        // Another key needs no second look at the sequence: if the line held ours before, it was removed.
        if (tag_of(begun) != tag || !same_key(wanted)) return LineRead::kOther;
          // acquire: a word of a later write brings that write's odd sequence to the re-check.
#pragma GCC unroll 8
        for (unsigned i = 0; i < kValueWords; ++i) out[i] = Memory::load(value[i], at<Site::kEntryLoad>);
        // relaxed: the acquire loads above keep it behind them; coherence does the rest.
        if (Memory::load(head, at<Site::kEntryRecheck>) == begun) [[likely]]
          return LineRead::kMatch;
      }
      Memory::pause();
    }
    return LineRead::kTorn;
  }

  // ---- the only writer ----

  void write(std::uint32_t tag, const KeyWords& new_key, const ValueWords& new_value) {
    const std::uint64_t before = own(head);
    // A line that a dead writer left odd goes on to the next odd number.
    const std::uint32_t open = sequence_of(before) + 1 + (sequence_of(before) & 1);
    // relaxed: each store below is a release and has this one before it.
    Memory::store(head, head_of(open, tag_of(before)), at<Site::kEntryOpen>);
    // release: a reader that sees a new word sees the odd sequence too when it looks again.
    for (unsigned i = 0; i < kKeyWords; ++i) Memory::store(key[i], new_key[i], at<Site::kEntryStore>);
    for (unsigned i = 0; i < kValueWords; ++i) Memory::store(value[i], new_value[i], at<Site::kEntryStore>);
    // release: a reader that begins with the new even sequence sees all new words.
    Memory::store(head, head_of(open + 1, tag), at<Site::kEntryClose>);
  }

  /// One store: the sequence goes on, so that a reader in the middle starts again.
  void clear() {
    const std::uint32_t sequence = sequence_of(own(head));
    // relaxed: no word changed with it. A reader that still sees the old head gets the old entry whole, as if
    // it had come earlier.
    Memory::store(head, head_of(sequence + 2 - (sequence & 1), 0), at<Site::kEntryClear>);
  }

  /// False: never written, its page may not even be there.
  [[nodiscard]] bool is_touched() const {
    return own(head) != 0;
  }
  [[nodiscard]] std::uint32_t own_tag() const {
    return tag_of(own(head));
  }
  [[nodiscard]] KeyWords own_key() const {
    KeyWords words;
    for (unsigned i = 0; i < kKeyWords; ++i) words[i] = own(key[i]);
    return words;
  }
  [[nodiscard]] ValueWords own_value() const {
    ValueWords words;
    for (unsigned i = 0; i < kValueWords; ++i) words[i] = own(value[i]);
    return words;
  }

 private:
  static std::uint64_t own(const Cell& cell) {
    // relaxed: the only writer reads its own last store.
    return Memory::load(cell, at<Site::kEntryOwnLoad>);
  }

  // Without a branch a word: a line that is looked at nearly always holds the key.
  bool same_key(const KeyWords& wanted) const {
    std::uint64_t difference = 0;
#pragma GCC unroll 8
    for (unsigned i = 0; i < kKeyWords; ++i) {
      // acquire: as for the words of the value.
      difference |= Memory::load(key[i], at<Site::kEntryLoad>) ^ wanted[i];
    }
    return difference == 0;
  }
};

}  // namespace kvtier
