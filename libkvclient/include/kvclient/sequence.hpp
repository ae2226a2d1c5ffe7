// A running request's blocks: PagedAttention's view of the cache. Kwon et al., "Efficient Memory Management for Large
// Language Model Serving with PagedAttention", SOSP 2023, sections 4.1 to 4.5: fixed blocks, allocated on demand, all
// or nothing; blocks in common between sequences, copied when one of them writes; whole sequences swapped out and in.
//
// Units: tokens, and blocks of SlotSource::block_tokens() tokens (16 by default) and block_bytes() bytes; where in a
// block the bytes of a token lie is the spec's layout, and the engine's business. Token i is in block
// i / block_tokens of the table.
//
// A block is private (a reserved slot that the engine fills) until it is full and commit() was told that it is written;
// from then on it is shared: leased, read-only, and found by others under its key. The last block, while it is not
// full, is always private.
//
//   Sequence sequence(slots);
//   sequence.allocate(prompt);                     // blocks that are there are leased, the rest reserved
//   ... compute tokens [written_count(), tokens_count()) into table()'s writable blocks ...
//   sequence.commit(sequence.tokens_count());
//   sequence.append(token); ... compute ...; sequence.commit(sequence.tokens_count());
//
// Thread: all sequences of one source are used by one thread at a time.
// Errors: kvc_code in an Outcome; then nothing has changed, unless it says otherwise. KVC_INVALID: the sequence is not
// in a state for that call. KVC_NO_SPACE: free a sequence, or swap one out, and try again. The same holds where it
// throws: std::bad_alloc, or kvclient::Error for a client that a child inherited by fork.
#ifndef KVCLIENT_SEQUENCE_HPP
#define KVCLIENT_SEQUENCE_HPP

#include <algorithm>

#include "kvclient/block_table.hpp"

namespace kvclient {

class Sequence {
 public:
  enum class State : std::uint8_t { kEmpty, kResident, kSwappedOut };

  /// `source` outlives it.
  explicit Sequence(SlotSource& source) : source_(&source) {}
  Sequence(Sequence&& other) noexcept : source_(other.source_), is_(std::exchange(other.is_, {})) {}
  Sequence& operator=(Sequence&& other) noexcept {
    if (this == &other) return *this;
    free();
    source_ = other.source_;
    is_ = std::exchange(other.is_, {});
    return *this;
  }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  ~Sequence() { free(); }

  [[nodiscard]] State state() const { return is_.state; }
  [[nodiscard]] std::size_t tokens_count() const { return is_.tokens; }
  /// Tokens whose bytes are there: the engine computes from here on. Falls only when blocks are lost.
  [[nodiscard]] std::size_t written_count() const { return is_.written; }
  /// Blocks that it has while resident, and needs to be so again.
  [[nodiscard]] std::size_t blocks_count() const { return (is_.tokens + tokens_each() - 1) / tokens_each(); }
  /// While resident. Read with readable(i), write what is not written yet into writable(i); both are valid until the next
  /// call that changes this sequence or one that shares the block.
  [[nodiscard]] std::span<const std::byte> readable(std::size_t i) const {
    if (is_.table[i].state() == Block::State::kLost) return {};
    return source_->readable(is_.table[i].slot());
  }
  /// Empty for a block that must not be written: it is committed, lost, or another sequence has it too.
  [[nodiscard]] std::span<std::byte> writable(std::size_t i) {
    if (is_.table[i].state() != Block::State::kPrivate || is_.table.is_shared(i)) return {};
    return source_->writable(is_.table[i].slot());
  }
  [[nodiscard]] const BlockTable& table() const { return is_.table; }
  /// Of the full blocks, first to last.
  [[nodiscard]] Keys keys() const { return is_.keys; }
  /// Of private blocks that were saved by swap_out().
  [[nodiscard]] std::size_t saved_bytes() const { return is_.saved.size() * source_->block_bytes(); }

  /// Of an empty sequence. Leases the prompt's leading blocks that are there (written_count() has their tokens), and
  /// reserves private ones for the rest, or does neither. At least one token is left to compute; `matched_tokens_max`
  /// leaves more.
  Outcome allocate(std::span<const std::uint32_t> tokens, std::size_t matched_tokens_max = ~std::size_t{0}) {
    if (is_.state != State::kEmpty || tokens.empty()) return {KVC_INVALID};
    Content made;
    made.keys = source_->keys(tokens, nullptr);
    made.tail.assign(tokens.end() - static_cast<std::ptrdiff_t>(tokens.size() % tokens_each()), tokens.end());
    made.tokens = tokens.size();
    const Outcome outcome = admit(made, matched_tokens_max);
    if (outcome.is_ok()) is_ = std::move(made);
    return outcome;
  }

  /// Room for further tokens, of all of them or none. Publishes nothing. A last block that another sequence has too is
  /// copied first: it is in another slot then.
  Outcome extend(std::span<const std::uint32_t> tokens);
  Outcome append(std::uint32_t token) { return extend(std::span(&token, 1)); }

  /// The bytes of the first `tokens_written` tokens are there; written_count() is that or what it was. Publishes the
  /// full private blocks among them, first to last. Not KVC_OK: why the first that is not public is not. It is private
  /// as before, and tried again by the next commit that fills a block, or that says nothing new; or it is lost (a
  /// daemon that went away in the middle, an invalidation): then written_count() has fallen to its first token, and
  /// recompute() makes the sequence whole.
  Outcome commit(std::size_t tokens_written);

  /// Makes `child`, which is empty and of the same source, a copy that has all blocks in common. Every token must be
  /// written. The last block is copied by the first of the two that appends to it.
  Outcome fork(Sequence& child) const {
    if (is_.state != State::kResident || child.is_.state != State::kEmpty || child.source_ != source_)
      return {KVC_INVALID};
    if (is_.written < is_.tokens) return {KVC_INVALID};
    Content copy = is_;
    child.is_ = std::move(copy);
    return {};
  }

  /// Gives all slots back. Committed blocks stay in the cache for as long as it has room for them; what is written in
  /// private ones is kept in this object's own memory.
  Outcome swap_out();
  /// Takes everything back, or nothing. KVC_NOT_FOUND: committed blocks have left the cache; `missing` (may be null) has
  /// their numbers. Then recompute().
  Outcome swap_in(std::vector<std::size_t>* missing = nullptr);
  /// As allocate() for the sequence's own tokens: leases the leading blocks that are there and reserves private ones for
  /// the rest; the engine computes from written_count() on. Not KVC_OK: it is swapped out, and nothing is held or saved.
  Outcome recompute();

  /// Back to empty. From the last block to the first: a prefix stays longest.
  void free() {
    is_.table.clear();
    is_ = {};
  }

 private:
  struct Saved {
    std::size_t block = 0;
    std::vector<std::byte> bytes;
  };
  struct Content {
    State state = State::kEmpty;
    BlockTable table;
    std::vector<kvc_key> keys;        // of full blocks
    std::vector<std::uint32_t> tail;  // tokens of the last block while it is not full
    std::size_t tokens = 0;
    std::size_t written = 0;
    std::size_t committed = 0;  // blocks in front that are known to be committed; of the rest some may be
    std::size_t tried = 0;      // full blocks at the last commit that published
    std::vector<Saved> saved;
  };

  [[nodiscard]] std::size_t tokens_each() const { return source_->block_tokens(); }
  [[nodiscard]] static const kvc_key* parent_of(Keys keys, std::size_t block) {
    return block == 0 ? nullptr : &keys[block - 1];
  }
  Outcome admit(Content& to, std::size_t matched_tokens_max);
  Outcome reserve_rest(const Content& of, BlockTable& table);
  Outcome grow(std::span<const std::uint32_t> tail);
  [[nodiscard]] std::vector<std::size_t> due_blocks() const;
  void note_committed();

  SlotSource* source_;
  Content is_;
};

}  // namespace kvclient

#include "kvclient/sequence_steps.hpp"

#endif  // KVCLIENT_SEQUENCE_HPP
