// Which slot has which block of a sequence (Kwon et al., SOSP 2023, sections 4.2 and 4.4): sequences that were forked
// from one another have blocks in common; the last one to let go gives the slot back.
#ifndef KVCLIENT_BLOCK_TABLE_HPP
#define KVCLIENT_BLOCK_TABLE_HPP

#include <memory>
#include <utility>
#include <vector>

#include "kvclient/slot_source.hpp"

namespace kvclient {

/// A slot with its owner: aborted or released at the end of its life.
class Block {
 public:
  enum class State : std::uint8_t {
    kPrivate,
    kCommitted,  ///< leased
    kLost        ///< no slot, no bytes
  };

  Block(SlotSource& source, SlotId slot, State state) : source_(source), slot_(slot), state_(state) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() {
    if (state_ == State::kPrivate) source_.abort(slot_);
    if (state_ == State::kCommitted) source_.release(slot_);
  }

  [[nodiscard]] SlotId slot() const { return slot_; }
  [[nodiscard]] State state() const { return state_; }
  /// What a commit made of it.
  void set(SlotId slot, State state) {
    slot_ = slot;
    state_ = state;
  }

 private:
  SlotSource& source_;
  SlotId slot_;
  State state_;
};

/// Logical block i of a sequence is blocks_[i]. A copy shares the blocks.
class BlockTable {
 public:
  BlockTable() = default;
  BlockTable(const BlockTable&) = default;
  BlockTable(BlockTable&&) noexcept = default;
  BlockTable& operator=(const BlockTable&) = default;
  BlockTable& operator=(BlockTable&&) noexcept = default;
  ~BlockTable() { clear(); }

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }
  [[nodiscard]] Block& operator[](std::size_t i) { return *blocks_[i]; }
  [[nodiscard]] const Block& operator[](std::size_t i) const { return *blocks_[i]; }
  /// Another sequence has it too.
  [[nodiscard]] bool is_shared(std::size_t i) const { return blocks_[i].use_count() > 1; }

  /// Takes the slots over, also where it throws.
  void add(SlotSource& source, std::span<const SlotId> slots, Block::State state) {
    std::size_t done = 0;
    try {
      blocks_.reserve(blocks_.size() + slots.size());
      for (; done < slots.size(); ++done)
        blocks_.push_back(std::make_shared<Block>(source, slots[done], state));
    } catch (...) {
      for (const SlotId slot : slots.subspan(done)) (void)Block(source, slot, state);
      throw;
    }
  }
  /// So that append() takes no memory.
  void reserve(std::size_t blocks) { blocks_.reserve(blocks); }
  void append(BlockTable&& more) {
    for (std::shared_ptr<Block>& block : more.blocks_) blocks_.push_back(std::move(block));
    more.blocks_.clear();
  }
  /// The last block of `other` takes the place of the last one here.
  void replace_last(BlockTable& other) {
    blocks_.back() = std::move(other.blocks_.back());
    other.blocks_.pop_back();
  }
  /// Last to first: what is given back first leaves memory first.
  void clear() {
    while (!blocks_.empty()) blocks_.pop_back();
  }

 private:
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace kvclient

#endif  // KVCLIENT_BLOCK_TABLE_HPP
