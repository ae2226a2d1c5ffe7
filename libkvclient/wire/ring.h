#pragma once
// Single-producer single-consumer ring over channel memory. Each side keeps its own cursor in private memory
// and only publishes it; the other side's published cursor is input: it is checked before it is used.
//
// Memory orders: a producer stores its cursor with release after the record, a consumer loads it with acquire
// before it reads the record; the consumer stores its cursor with release after its last read of the record,
// so that the producer, which loads it with acquire, may overwrite.
//
// The producer's store is seq_cst because a consumer may go to sleep: it stores "I sleep" (seq_cst), looks at
// the cursor once more (seq_cst, is_empty), and only then blocks; the producer stores the
// cursor, then loads "I sleep" (seq_cst). In the one order of the four, either the consumer sees the record
// or the producer sees the sleeper. Release and acquire alone would let both miss (store buffering).
// daemon_sleeps guards the submission ring this way, client_waiters the completion ring.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "libkvclient/wire/channel.h"

namespace kvtier {

enum class RingResult : std::uint8_t { kDone, kEmpty, kFull, kBroken };

template <class Record, std::uint32_t kEntries>
class RingProducer {
  static_assert(std::is_trivially_copyable_v<Record> && (kEntries & (kEntries - 1)) == 0);

 public:
  RingProducer(std::byte* records, SharedU32& tail, const SharedU32& head, std::uint32_t start = 0)
      : records_(records), tail_(&tail), head_(&head), next_(start) {}

  /// kDone: at least `records` more fit; nobody but this side takes that room. kFull, kBroken.
  [[nodiscard]] RingResult room_for(std::uint32_t records) const {
    const std::uint32_t used = next_ - head_->load(std::memory_order_acquire);
    if (used > kEntries) return RingResult::kBroken;
    return kEntries - used >= records ? RingResult::kDone : RingResult::kFull;
  }

  RingResult push(const Record& record) {
    const RingResult room = room_for(1);
    if (room != RingResult::kDone) return room;
    std::memcpy(records_ + std::size_t{next_ & (kEntries - 1)} * sizeof(Record), &record, sizeof record);
    tail_->store(++next_, std::memory_order_seq_cst);  // release for the record; seq_cst for sleepers
    return RingResult::kDone;
  }
  [[nodiscard]] std::uint32_t position() const { return next_; }

 private:
  std::byte* records_;
  SharedU32* tail_;
  const SharedU32* head_;
  std::uint32_t next_;
};

template <class Record, std::uint32_t kEntries>
class RingConsumer {
  static_assert(std::is_trivially_copyable_v<Record> && (kEntries & (kEntries - 1)) == 0);

 public:
  RingConsumer(const std::byte* records, const SharedU32& tail, SharedU32& head, std::uint32_t start = 0)
      : records_(records), tail_(&tail), head_(&head), next_(start) {}

  RingResult pop(Record& record) {
    const std::uint32_t ready = tail_->load(std::memory_order_acquire) - next_;
    if (ready == 0) return RingResult::kEmpty;
    if (ready > kEntries) return RingResult::kBroken;
    std::memcpy(&record, records_ + std::size_t{next_ & (kEntries - 1)} * sizeof(Record), sizeof record);
    head_->store(++next_, std::memory_order_release);
    return RingResult::kDone;
  }
  [[nodiscard]] bool is_empty() const { return tail_->load(std::memory_order_seq_cst) == next_; }
  [[nodiscard]] std::uint32_t position() const { return next_; }

 private:
  const std::byte* records_;
  const SharedU32* tail_;
  SharedU32* head_;
  std::uint32_t next_;
};

using SubmissionProducer = RingProducer<Submission, kSubmissionEntries>;
using SubmissionConsumer = RingConsumer<Submission, kSubmissionEntries>;
using CompletionProducer = RingProducer<Completion, kCompletionEntries>;
using CompletionConsumer = RingConsumer<Completion, kCompletionEntries>;

}  // namespace kvtier
