#pragma once
// The two rings of a channel, from the client's side: requests that are answered, and records that are not.
// An answer is reaped by whichever thread waits. Thread-safe.
//
// A request whose deadline passes stays open ("late") with its id and its arena range until its answer
// arrives, so that a late answer is never taken for another's and the daemon never writes into a range that
// was given away. Slots that a late reserve granted are aborted.
//
// A record takes a place in the ring before it goes out, so that its sender can let go of what it names in between:
// when it is sure that the record goes out, and before the daemon can act on it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/src/arena.h"
#include "libkvclient/wire/ring.h"

namespace kvtier::client {

struct RingPositions {
  std::uint32_t submission = 0;
  std::uint32_t completion = 0;
};

class Requests {
 public:
  /// `channel`: the mapped channel, which outlives this. `start`: where the rings stand.
  Requests(std::byte* channel, UniqueFd doorbell, RingPositions start);
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  /// Takes an id and `arena_bytes` of the arena, waiting for both. kDeadline, kUnavailable.
  Result<std::uint32_t> open(Op op, std::uint64_t arena_bytes, TimeNs deadline_ns);
  [[nodiscard]] std::byte* arena_of(std::uint32_t id);
  /// Takes a place in the submission ring, waiting for one. kDeadline, kUnavailable. One send() or push() must follow.
  Status take_place(TimeNs deadline_ns);
  /// Publishes the record of an open request at the place taken; fills in its id and arena offset. kUnavailable.
  Status send(std::uint32_t id, Submission submission);
  /// Until the answer is there. kDeadline: the request is late, kUnavailable: the session broke.
  Result<Completion> await(std::uint32_t id, TimeNs deadline_ns);
  /// Done with an id that open() gave, whatever became of it.
  void close(std::uint32_t id);

  /// The same for a record that has no answer (kCommit, kAbort without kFlagReply).
  Status push(const Submission& submission);
  /// Publishes an abort that nobody waits for, as soon as there is room: now, or when late answers are taken in.
  void push_abort(const Submission& abort);
  void ring_doorbell() const;
  [[nodiscard]] int doorbell() const { return doorbell_.get(); }

  /// The session is over: every waiting thread returns kUnavailable, before this does. Nothing touches the
  /// channel any more.
  void break_off();
  /// Takes in answers of late requests. Whether some are still open: then call again in a while.
  bool reap_late();

  [[nodiscard]] RingPositions positions() const;
  [[nodiscard]] std::uint64_t sent_count() const { return sent_count_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t late_count() const { return late_count_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t kEntries = kCompletionEntries;
  static constexpr std::uint32_t kOpenMax = kCompletionEntries - 1;
  enum class State : std::uint8_t { kFree, kOpen, kSent, kDone, kLate };

  struct Entry {
    State state = State::kFree;
    Op op = Op::kEcho;
    std::uint32_t id = 0;
    std::uint32_t count = 0;
    SpaceId space = SpaceId::kNone;
    std::uint64_t arena_offset = kNoArena;
    std::uint64_t arena_bytes = 0;
    Completion completion{};
  };

  // All of these: mutex_ held.
  Entry* find(std::uint32_t id);
  Entry* take_entry(Op op, std::uint64_t arena_bytes);
  void free_entry(Entry& entry);
  void reap();
  void take_answer(const Completion& completion);
  void keep_late_grants(const Entry& entry);
  void push_late_aborts();
  RingResult room_for_one() const { return submissions_.room_for(places_taken_ + 1); }
  bool publish(const Submission& submission);
  Status push_taken(const Submission& submission);

  void wake_daemon() const;
  void sleep(std::uint32_t tail_seen, TimeNs until_ns);
  void pause_for_room(TimeNs until_ns);

  // constant after construction
  ChannelHeader* const header_;
  std::byte* const arena_memory_;
  const UniqueFd doorbell_;

  mutable std::mutex mutex_;
  // guarded by mutex_
  SubmissionProducer submissions_;
  CompletionConsumer completions_;
  Arena arena_;
  std::array<Entry, kEntries> entries_;
  std::uint32_t open_count_ = 0;
  std::uint32_t late_open_ = 0;
  std::uint32_t places_taken_ = 0;
  std::uint32_t next_index_ = 0;
  std::vector<Submission> late_aborts_;

  std::atomic<bool> is_broken_{false};
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint64_t> sent_count_{0};
  std::atomic<std::uint64_t> late_count_{0};
};

/// Closes a request at the end of its scope.
class RequestScope {
 public:
  RequestScope(Requests& requests, std::uint32_t id) : requests_(requests), id_(id) {}
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;
  ~RequestScope() { requests_.close(id_); }

 private:
  Requests& requests_;
  std::uint32_t id_;
};

}  // namespace kvtier::client
