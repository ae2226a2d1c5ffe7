// What Sequence does, step by step. Include sequence.hpp.
#ifndef KVCLIENT_SEQUENCE_STEPS_HPP
#define KVCLIENT_SEQUENCE_STEPS_HPP

#include "kvclient/sequence.hpp"

namespace kvclient {

// `to` has its tokens and holds nothing; it stays so where there is no room.
inline Outcome Sequence::admit(Content& to, std::size_t matched_tokens_max) {
  const std::size_t matched_max = std::min(matched_tokens_max, to.tokens - 1) / tokens_each();
  const Keys prefix = Keys(to.keys).first(std::min(matched_max, to.keys.size()));
  std::vector<SlotId> slots(prefix.size());
  slots.resize(source_->acquire(prefix, Acquire::kLeading, slots));
  BlockTable table;
  table.add(*source_, slots, Block::State::kCommitted);
  const Outcome outcome = reserve_rest(to, table);
  if (!outcome.is_ok()) return outcome;
  to.table = std::move(table);
  to.committed = to.tried = slots.size();
  to.written = slots.size() * tokens_each();
  to.state = State::kResident;
  return outcome;
}

// Private slots for all blocks behind those in the table.
inline Outcome Sequence::reserve_rest(const Content& of, BlockTable& table) {
  const std::size_t first = table.size();
  const std::size_t blanks = of.tail.empty() ? 0 : 1;
  const SlotRequest request{Keys(of.keys).subspan(first), parent_of(of.keys, first), blanks};
  std::vector<SlotId> slots(request.size());
  if (slots.empty()) return {};
  const Outcome outcome = source_->reserve(request, slots);
  if (outcome.is_ok()) table.add(*source_, slots, Block::State::kPrivate);
  return outcome;
}

inline Outcome Sequence::extend(std::span<const std::uint32_t> tokens) {
  if (is_.state != State::kResident) return {KVC_INVALID};
  if (tokens.empty()) return {};
  std::vector<std::uint32_t> tail = is_.tail;
  tail.insert(tail.end(), tokens.begin(), tokens.end());
  const Outcome outcome = grow(tail);
  if (outcome.is_ok()) is_.tokens += tokens.size();
  return outcome;
}

// `tail`: all tokens behind those of the full blocks.
inline Outcome Sequence::grow(std::span<const std::uint32_t> tail) {
  const bool has_last = !is_.tail.empty();
  const bool copies_last = has_last && is_.table.is_shared(is_.table.size() - 1);
  const std::vector<kvc_key> keys = source_->keys(tail, parent_of(is_.keys, is_.keys.size()));
  const std::size_t blocks_after = is_.keys.size() + (tail.size() + tokens_each() - 1) / tokens_each();
  const std::size_t added = blocks_after - is_.table.size();
  // The last block has its slot; when it is full now, keys[0] is its key, and the new ones come behind it.
  const Keys known = Keys(keys).subspan(has_last && !keys.empty() ? 1 : 0);
  const kvc_key* parent = known.size() < keys.size() ? keys.data() : parent_of(is_.keys, is_.keys.size());
  const SlotRequest request{known, parent, added - known.size() + (copies_last ? 1 : 0)};

  // All memory that is needed, before anything changes.
  std::vector<SlotId> slots(request.size());
  std::vector<std::uint32_t> rest(tail.end() - static_cast<std::ptrdiff_t>(tail.size() % tokens_each()),
                                  tail.end());
  is_.keys.reserve(is_.keys.size() + keys.size());
  is_.table.reserve(blocks_after);
  BlockTable taken;
  if (!slots.empty()) {
    const Outcome outcome = source_->reserve(request, slots);
    if (!outcome.is_ok()) return outcome;
    taken.add(*source_, slots, Block::State::kPrivate);
  }
  if (copies_last) {
    source_->copy(slots.back(), is_.table[is_.table.size() - 1].slot());
    is_.table.replace_last(taken);
  }
  is_.table.append(std::move(taken));
  is_.keys.insert(is_.keys.end(), keys.begin(), keys.end());
  is_.tail = std::move(rest);
  return {};
}

inline Outcome Sequence::commit(std::size_t tokens_written) {
  if (is_.state != State::kResident || tokens_written > is_.tokens) return {KVC_INVALID};
  const bool is_retry = tokens_written <= is_.written;
  is_.written = std::max(is_.written, tokens_written);
  note_committed();
  // Not at every token: what could not be published is tried again with the next full block.
  const std::size_t full = is_.written / tokens_each();
  if (!is_retry && full == is_.tried)
    return is_.written < tokens_written ? Outcome{KVC_NOT_FOUND} : Outcome{};
  is_.tried = full;
  const std::vector<std::size_t> due = due_blocks();
  std::vector<BlockCommit> commits;
  commits.reserve(due.size());
  for (const std::size_t i : due)
    commits.push_back({is_.table[i].slot(), is_.keys[i], parent_of(is_.keys, i)});
  if (!due.empty()) source_->commit(commits);
  Outcome outcome;
  for (std::size_t n = 0; n < due.size(); ++n) {
    const BlockCommit& done = commits[n];
    if (done.code == KVC_OK) is_.table[due[n]].set(done.slot, Block::State::kCommitted);
    if (done.slot == SlotId::kNone) is_.table[due[n]].set(done.slot, Block::State::kLost);
    if (outcome.is_ok()) outcome.code = done.code;
  }
  note_committed();
  return outcome.is_ok() && is_.written < tokens_written ? Outcome{KVC_NOT_FOUND} : outcome;
}

// The private ones that are full and written.
inline std::vector<std::size_t> Sequence::due_blocks() const {
  std::vector<std::size_t> due;
  for (std::size_t i = is_.committed; i < is_.written / tokens_each(); ++i) {
    if (is_.table[i].state() == Block::State::kPrivate) due.push_back(i);
  }
  return due;
}

// A fork may have committed blocks of this sequence, or lost them.
inline void Sequence::note_committed() {
  const auto state_of = [this](std::size_t i) { return is_.table[i].state(); };
  while (is_.committed < is_.keys.size() && state_of(is_.committed) == Block::State::kCommitted)
    ++is_.committed;
  for (std::size_t i = is_.committed; i * tokens_each() < is_.written; ++i) {
    if (state_of(i) == Block::State::kLost) is_.written = i * tokens_each();
  }
  is_.tried = std::min(is_.tried, is_.written / tokens_each());
}

inline Outcome Sequence::swap_out() {
  if (is_.state != State::kResident) return {KVC_INVALID};
  note_committed();
  std::vector<Saved> saved;
  for (std::size_t i = is_.committed; i * tokens_each() < is_.written; ++i) {
    saved.push_back({i, std::vector<std::byte>(source_->block_bytes())});
    source_->copy_out(saved.back().bytes, is_.table[i].slot());
  }
  is_.table.clear();
  is_.saved = std::move(saved);
  is_.state = State::kSwappedOut;
  return {};
}

inline Outcome Sequence::swap_in(std::vector<std::size_t>* missing) {
  if (missing != nullptr) {
    missing->clear();
    missing->reserve(is_.committed);
  }
  if (is_.state != State::kSwappedOut) return {KVC_INVALID};
  std::vector<SlotId> slots(is_.committed);
  const bool is_whole =
      source_->acquire(Keys(is_.keys).first(is_.committed), Acquire::kEach, slots) == slots.size();
  for (std::size_t i = 0; i < slots.size() && !is_whole; ++i) {
    if (slots[i] != SlotId::kNone) source_->release(slots[i]);
    if (slots[i] == SlotId::kNone && missing != nullptr) missing->push_back(i);
  }
  if (!is_whole) return {KVC_NOT_FOUND};
  BlockTable table;
  table.add(*source_, slots, Block::State::kCommitted);
  const Outcome outcome = reserve_rest(is_, table);
  if (!outcome.is_ok()) return outcome;
  for (const Saved& each : is_.saved) source_->copy_in(table[each.block].slot(), each.bytes);
  is_.table = std::move(table);
  is_.saved.clear();
  is_.state = State::kResident;
  return outcome;
}

inline Outcome Sequence::recompute() {
  if (is_.state == State::kEmpty) return {KVC_INVALID};
  if (is_.state == State::kResident) note_committed();
  is_.table.clear();
  is_.saved.clear();
  is_.state = State::kSwappedOut;
  is_.written = std::min(is_.written, is_.committed * tokens_each());
  is_.tried = std::min(is_.tried, is_.committed);
  return admit(is_, is_.tokens);
}

}  // namespace kvclient

#endif  // KVCLIENT_SEQUENCE_STEPS_HPP
