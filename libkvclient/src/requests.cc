#include "libkvclient/src/requests.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "libkvclient/src/deadline.h"
#include "libkvclient/src/futex.h"
#include "libkvclient/src/patience.h"

namespace kvtier::client {
namespace {

constexpr std::uint32_t kIndexMask = kCompletionEntries - 1;

Status broken() {
  return {Code::kUnavailable, "the daemon hung up"};
}

Status damaged() {
  return {Code::kUnavailable, "the submission ring is damaged"};
}

}  // namespace

Requests::Requests(std::byte* channel, UniqueFd doorbell, RingPositions start)
    : header_(reinterpret_cast<ChannelHeader*>(channel)),
      arena_memory_(channel + ChannelLayout::kArena),
      doorbell_(std::move(doorbell)),
      submissions_(channel + ChannelLayout::kSubmissions, header_->submission_tail, header_->submission_head,
                   start.submission),
      completions_(channel + ChannelLayout::kCompletions, header_->completion_tail, header_->completion_head,
                   start.completion) {}

Result<std::uint32_t> Requests::open(Op op, std::uint64_t arena_bytes, TimeNs deadline_ns) {
  KV_CHECK(arena_bytes <= kArenaBytes, "calls are split into requests that fit the arena");
  Patience patience(deadline_ns);
  while (true) {
    // acquire: everything up to here is taken in by the reap below, so the sleep cannot miss an answer.
    const std::uint32_t seen = header_->completion_tail.load(std::memory_order_acquire);
    {
      const std::lock_guard lock(mutex_);
      if (is_broken_.load()) return broken();
      reap();
      if (const Entry* entry = take_entry(op, arena_bytes)) return entry->id;
    }
    if (patience.is_over()) {
      return Status(Code::kDeadline, "too many requests are open; none was answered before the deadline");
    }
    sleep(seen, patience.sleep_until());
  }
}

std::byte* Requests::arena_of(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  const Entry* entry = find(id);
  KV_CHECK(entry != nullptr && entry->arena_offset != kNoArena, "an open request with an arena range");
  return arena_memory_ + entry->arena_offset;
}

Status Requests::send(std::uint32_t id, Submission submission) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find(id);
  KV_CHECK(entry != nullptr && entry->state == State::kOpen, "a request is sent once");
  submission.request_id = id;
  submission.arena_offset = entry->arena_offset;
  entry->count = submission.count;
  entry->space = submission.space;
  Status status = push_taken(submission);
  if (status.is_ok()) entry->state = State::kSent;  // else no answer will come
  sent_count_.fetch_add(1, std::memory_order_relaxed);
  return status;
}

Result<Completion> Requests::await(std::uint32_t id, TimeNs deadline_ns) {
  Patience patience(deadline_ns);
  while (true) {
    const std::uint32_t seen = header_->completion_tail.load(std::memory_order_acquire);  // as in open
    {
      const std::lock_guard lock(mutex_);
      if (is_broken_.load()) return broken();
      reap();
      const Entry* entry = find(id);
      KV_CHECK(entry != nullptr, "a request stays until it is closed");
      if (entry->state == State::kDone) return entry->completion;
    }
    if (patience.is_over()) return Status(Code::kDeadline, "the daemon has not answered in time");
    sleep(seen, patience.sleep_until());
  }
}

void Requests::close(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  Entry* entry = find(id);
  if (entry == nullptr) return;
  if (entry->state == State::kSent && !is_broken_.load()) {
    entry->state = State::kLate;
    ++late_open_;
    late_count_.fetch_add(1, std::memory_order_relaxed);
  } else {
    free_entry(*entry);
  }
}

Status Requests::take_place(TimeNs deadline_ns) {
  Patience patience(deadline_ns);
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (is_broken_.load()) return broken();
      push_late_aborts();
      const RingResult room = room_for_one();
      if (room == RingResult::kBroken) return damaged();
      if (room == RingResult::kDone) {
        ++places_taken_;
        return Status::ok();
      }
    }
    if (patience.is_over()) return {Code::kDeadline, "the submission ring is full and stays full"};
    pause_for_room(patience.sleep_until());
  }
}

Status Requests::push(const Submission& submission) {
  const std::lock_guard lock(mutex_);
  return push_taken(submission);
}

Status Requests::push_taken(const Submission& submission) {
  KV_CHECK(places_taken_ > 0, "a place is taken before a record is published");
  --places_taken_;
  if (is_broken_.load()) return broken();
  return publish(submission) ? Status::ok() : damaged();
}

void Requests::push_abort(const Submission& abort) {
  const std::lock_guard lock(mutex_);
  if (is_broken_.load()) return;  // the daemon takes the room back with the session
  late_aborts_.push_back(abort);
  push_late_aborts();
}

// There is room, unless the daemon moved its cursor back: then the ring is damaged.
bool Requests::publish(const Submission& submission) {
  const bool is_done = submissions_.push(submission) == RingResult::kDone;
  if (is_done) wake_daemon();
  return is_done;
}

void Requests::wake_daemon() const {
  // seq_cst: after the ring's seq_cst store of its cursor; ring.h has the argument.
  if (header_->daemon_sleeps.load(std::memory_order_seq_cst) != 0) ring_doorbell();
}

void Requests::sleep(std::uint32_t tail_seen, TimeNs until_ns) {
  // seq_cst, all four: a waiter is counted before it looks at is_broken_, and break_off() sets is_broken_
  // before it looks at the count; likewise client_waiters and the daemon's completion_tail (ring.h).
  sleepers_.fetch_add(1);
  header_->client_waiters.fetch_add(1);
  if (!is_broken_.load()) futex_wait(header_->completion_tail, tail_seen, until_ns);
  header_->client_waiters.fetch_sub(1);
  sleepers_.fetch_sub(1);
}

void Requests::pause_for_room(TimeNs until_ns) {
  // The daemon has no word to say that it consumed a record; a full ring is rare.
  constexpr TimeNs kPause = 50 * kNsPerUs;
  const TimeNs left = until_ns - std::min(until_ns, now_ns());
  std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(kPause, left)));
}

void Requests::break_off() {
  {
    const std::lock_guard lock(mutex_);
    is_broken_.store(true);
  }
  // A wake can fall between a waiter's look at is_broken_ and its sleep: wake until nobody is left.
  while (sleepers_.load() != 0) {
    futex_wake_all(header_->completion_tail);
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

RingPositions Requests::positions() const {
  const std::lock_guard lock(mutex_);
  return {submissions_.position(), completions_.position()};
}

Requests::Entry* Requests::find(std::uint32_t id) {
  Entry& entry = entries_[id & kIndexMask];
  return entry.state != State::kFree && entry.id == id ? &entry : nullptr;
}

}  // namespace kvtier::client
