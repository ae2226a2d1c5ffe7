// The table of open requests, and what becomes of answers that nobody waits for any more.

#include <unistd.h>

#include <cstring>

#include "libkvclient/src/requests.h"

namespace kvtier::client {

void Requests::ring_doorbell() const {
  const std::uint64_t one = 1;
  // An eventfd of the daemon's; it cannot fill up, and a failure means that the daemon is gone.
  [[maybe_unused]] const ssize_t written = ::write(doorbell_.get(), &one, sizeof one);
}

Requests::Entry* Requests::take_entry(Op op, std::uint64_t arena_bytes) {
  if (open_count_ == kOpenMax) return nullptr;
  std::uint64_t offset = kNoArena;
  if (arena_bytes > 0) {
    const auto taken = arena_.take(arena_bytes);
    if (!taken) return nullptr;
    offset = *taken;
  }
  while (entries_[next_index_ % kEntries].state != State::kFree) ++next_index_;
  Entry& entry = entries_[next_index_ % kEntries];
  // The high bits count uses of the entry: an answer to an earlier use has another id.
  const std::uint32_t id = entry.id == 0 ? next_index_ % kEntries + kEntries : entry.id + kEntries;
  entry = Entry{State::kOpen, op, id, 0, SpaceId::kNone, offset, arena_bytes, {}};
  ++open_count_;
  ++next_index_;
  return &entry;
}

void Requests::free_entry(Entry& entry) {
  if (entry.arena_offset != kNoArena) arena_.give_back(entry.arena_offset, entry.arena_bytes);
  entry.state = State::kFree;
  --open_count_;
}

void Requests::reap() {
  Completion completion{};
  while (completions_.pop(completion) == RingResult::kDone) take_answer(completion);
  push_late_aborts();
}

void Requests::take_answer(const Completion& completion) {
  Entry* entry = find(completion.request_id);
  if (entry == nullptr) return;  // of an earlier life of this channel
  if (entry->state == State::kSent) {
    entry->completion = completion;
    entry->state = State::kDone;
  } else if (entry->state == State::kLate) {
    if (entry->op == Op::kReserve) keep_late_grants(*entry);  // a partial grant is answered with kNoSpace
    --late_open_;
    free_entry(*entry);
  }
}

void Requests::keep_late_grants(const Entry& entry) {
  const std::byte* results = arena_memory_ + entry.arena_offset + reserve_results_offset(entry.count);
  Submission abort{};
  abort.op = Op::kAbort;
  abort.space = entry.space;
  abort.arena_offset = kNoArena;
  for (std::uint32_t i = 0; i < entry.count; ++i) {
    ReserveResult result{};
    std::memcpy(&result, results + i * sizeof result, sizeof result);
    if (result.code != Code::kOk) continue;
    abort.holds[abort.count++] = result.hold;
    if (abort.count < kInlineHolds) continue;
    late_aborts_.push_back(abort);
    abort.count = 0;
  }
  if (abort.count > 0) late_aborts_.push_back(abort);
}

void Requests::push_late_aborts() {
  while (!late_aborts_.empty() && room_for_one() == RingResult::kDone) {
    if (!publish(late_aborts_.back())) return;
    late_aborts_.pop_back();
  }
}

bool Requests::reap_late() {
  const std::lock_guard lock(mutex_);
  if (is_broken_.load()) return false;
  if (late_open_ == 0 && late_aborts_.empty()) return false;
  reap();
  return late_open_ > 0 || !late_aborts_.empty();
}

}  // namespace kvtier::client
