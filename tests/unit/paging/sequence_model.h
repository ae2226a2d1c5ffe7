#pragma once
// What sequences over a pool should do, as plainly as it can be said: a block is a list of the tokens up to its end, the
// cache a list of such lists. Every search is linear.

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "tests/unit/paging/engine.h"

namespace kvtier::test {

struct ModelBlock {
  bool is_committed = false;
};

struct ModelSequence {
  Sequence::State state = Sequence::State::kEmpty;
  Tokens tokens;
  std::size_t written = 0;
  std::size_t committed = 0;  ///< blocks, as of the time it was swapped out
  std::size_t tried = 0;      ///< full blocks when it last published
  std::vector<std::shared_ptr<ModelBlock>> blocks;
};

class SequenceModel {
 public:
  SequenceModel(std::size_t slots, std::size_t block_tokens) : slots_(slots), each_(block_tokens) {}

  bool allocate(ModelSequence& sequence, const Tokens& tokens) {
    sequence.tokens = tokens;
    if (admit(sequence)) return true;
    sequence = {};
    return false;
  }
  bool append(ModelSequence& sequence, const Tokens& more) {
    const std::size_t after = (sequence.tokens.size() + more.size() + each_ - 1) / each_;
    const bool copies =
        sequence.tokens.size() % each_ != 0 && sequence.blocks.back().use_count() > 1 && !more.empty();
    if (!reserve(after - sequence.blocks.size() + (copies ? 1 : 0))) return false;
    if (copies) sequence.blocks.back() = std::make_shared<ModelBlock>();
    while (sequence.blocks.size() < after) sequence.blocks.push_back(std::make_shared<ModelBlock>());
    sequence.tokens.insert(sequence.tokens.end(), more.begin(), more.end());
    return true;
  }
  /// Of those that could be made public `skipped`, counted from 0, is not; where `stops`, none behind it is.
  void commit(ModelSequence& sequence, std::size_t written, std::size_t skipped, bool stops) {
    const bool is_retry = written <= sequence.written;
    sequence.written = std::max(sequence.written, written);
    if (!is_retry && sequence.written / each_ == sequence.tried) return;
    sequence.tried = sequence.written / each_;
    for (std::size_t i = 0, due = 0; i < sequence.written / each_; ++i) {
      if (sequence.blocks[i]->is_committed) continue;
      if (due > skipped && stops) return;
      if (due++ == skipped) continue;
      --private_;
      sequence.blocks[i]->is_committed = true;
      lease(prefix(sequence, i));
    }
  }
  void fork(const ModelSequence& parent, ModelSequence& child) { child = parent; }
  void swap_out(ModelSequence& sequence) {
    sequence.committed = committed_count(sequence);
    release(sequence);
    sequence.state = Sequence::State::kSwappedOut;
  }
  enum class SwapIn : std::uint8_t { kDone, kMissing, kNoRoom };
  SwapIn swap_in(ModelSequence& sequence, std::vector<std::size_t>& missing) {
    missing.clear();
    std::vector<std::size_t> leased;
    for (std::size_t i = 0; i < sequence.committed; ++i) {
      if (is_there(prefix(sequence, i)))
        leased.push_back(i), lease(prefix(sequence, i));
      else
        missing.push_back(i);
    }
    const std::size_t blocks = (sequence.tokens.size() + each_ - 1) / each_;
    if (!missing.empty()) {
      for (const std::size_t i : leased) unlease(prefix(sequence, i));
      return SwapIn::kMissing;
    }
    if (!reserve(blocks - sequence.committed)) {
      for (std::size_t i = sequence.committed; i-- > 0;) unlease(prefix(sequence, i));
      return SwapIn::kNoRoom;
    }
    for (std::size_t i = 0; i < blocks; ++i)
      sequence.blocks.push_back(std::make_shared<ModelBlock>(ModelBlock{i < sequence.committed}));
    sequence.state = Sequence::State::kResident;
    return SwapIn::kDone;
  }
  bool recompute(ModelSequence& sequence) {
    if (sequence.state == Sequence::State::kResident) swap_out(sequence);
    sequence.written = std::min(sequence.written, sequence.committed * each_);
    sequence.tried = std::min(sequence.tried, sequence.committed);
    return admit(sequence);
  }
  void free(ModelSequence& sequence) {
    release(sequence);
    sequence = {};
  }
  void evict_all() { evictable_.clear(); }

  [[nodiscard]] std::size_t private_count() const { return private_; }
  [[nodiscard]] std::size_t leased_count() const { return leases_.size(); }
  [[nodiscard]] std::size_t evictable_count() const { return evictable_.size(); }
  [[nodiscard]] std::size_t free_count() const {
    return slots_ - private_count() - leased_count() - evictable_count();
  }

 private:
  [[nodiscard]] Tokens prefix(const ModelSequence& sequence, std::size_t block) const {
    return {sequence.tokens.begin(),
            sequence.tokens.begin() + static_cast<std::ptrdiff_t>((block + 1) * each_)};
  }
  [[nodiscard]] static std::size_t committed_count(const ModelSequence& sequence) {
    const auto is_private = [](const auto& block) { return !block->is_committed; };
    return static_cast<std::size_t>(std::ranges::find_if(sequence.blocks, is_private) -
                                    sequence.blocks.begin());
  }
  [[nodiscard]] bool is_there(const Tokens& block) const {
    return leases_.contains(block) || std::ranges::find(evictable_, block) != evictable_.end();
  }
  void lease(const Tokens& block) {
    evictable_.remove(block);
    ++leases_[block];
  }
  void unlease(const Tokens& block) {
    if (--leases_[block] > 0) return;
    leases_.erase(block);
    evictable_.push_back(block);
  }
  bool reserve(std::size_t count) {
    if (count > free_count() + evictable_.size()) return false;
    while (count > free_count()) evictable_.pop_front();
    private_ += count;
    return true;
  }
  // Last to first.
  void release(ModelSequence& sequence) {
    while (!sequence.blocks.empty()) {
      const std::size_t last = sequence.blocks.size() - 1;
      const bool is_committed = sequence.blocks[last]->is_committed;
      if (sequence.blocks[last].use_count() == 1 && is_committed) unlease(prefix(sequence, last));
      if (sequence.blocks[last].use_count() == 1 && !is_committed) --private_;
      sequence.blocks.pop_back();
    }
  }
  bool admit(ModelSequence& sequence) {
    const std::size_t matched_max = (sequence.tokens.size() - 1) / each_;
    std::size_t matched = 0;
    while (matched < matched_max && is_there(prefix(sequence, matched))) lease(prefix(sequence, matched++));
    const std::size_t blocks = (sequence.tokens.size() + each_ - 1) / each_;
    if (!reserve(blocks - matched)) {
      while (matched > 0) unlease(prefix(sequence, --matched));
      return false;
    }
    for (std::size_t i = 0; i < blocks; ++i)
      sequence.blocks.push_back(std::make_shared<ModelBlock>(ModelBlock{i < matched}));
    sequence.written = matched * each_;
    sequence.tried = matched;
    sequence.state = Sequence::State::kResident;
    return true;
  }

  const std::size_t slots_;
  const std::size_t each_;
  std::size_t private_ = 0;
  std::map<Tokens, std::size_t> leases_;
  std::list<Tokens> evictable_;  // released longest ago first
};

}  // namespace kvtier::test
