#include "daemon/session/client_rings.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace kvtier {
namespace {

ChannelHeader* header_of(std::byte* channel) {
  return reinterpret_cast<ChannelHeader*>(
      channel);  // the store laid it out; the wire type is trivially copyable
}

}  // namespace

ClientRings::ClientRings(std::byte* channel)
    : header_(header_of(channel)),
      submissions_(channel + ChannelLayout::kSubmissions, header_->submission_tail, header_->submission_head,
                   header_->submission_tail.load(std::memory_order_acquire)),
      completions_(channel + ChannelLayout::kCompletions, header_->completion_tail, header_->completion_head,
                   header_->completion_tail.load(std::memory_order_relaxed)) {
  header_->submission_head.store(submissions_.position(), std::memory_order_release);
  retract_sleep();
}

bool ClientRings::pop(std::span<Submission> room, std::size_t& count) {
  count = 0;
  while (count < room.size()) {
    const RingResult result = submissions_.pop(room[count]);
    if (result == RingResult::kBroken) return false;
    if (result != RingResult::kDone) return true;
    ++count;
  }
  return true;
}

bool ClientRings::push(const Completion& completion) {
  return completions_.push(completion) == RingResult::kDone;
}

// push() stored the tail seq_cst and this load is seq_cst; a client thread does the mirror image: it raises
// client_waiters, then looks at the tail, both seq_cst, then waits on the tail's value. In the single order
// of the four either we see the waiter or it sees the tail; FUTEX_WAIT itself compares once more. Not
// FUTEX_PRIVATE: the word is shared between processes.
void ClientRings::wake_waiters() {
  if (header_->client_waiters.load(std::memory_order_seq_cst) == 0) return;
  (void)::syscall(SYS_futex, &header_->completion_tail, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

// seq_cst, then has_work()'s seq_cst load of the tail: mirrored by the client's tail store and load of
// daemon_sleeps. Either it rings the doorbell or we see its record.
void ClientRings::announce_sleep() {
  header_->daemon_sleeps.store(1, std::memory_order_seq_cst);
}

// Relaxed: a client that still reads 1 rings once too often, which costs one wake-up.
void ClientRings::retract_sleep() {
  header_->daemon_sleeps.store(0, std::memory_order_relaxed);
}

}  // namespace kvtier
