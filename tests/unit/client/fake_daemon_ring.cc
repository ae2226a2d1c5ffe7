// The fake daemon's side of the rings.

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "libkvclient/base/clock.h"
#include "libkvclient/wire/spec.h"
#include "tests/unit/client/fake_daemon.h"

namespace kvtier::test {

void FakeDaemon::register_space(Peer& peer, const Message& message) {
  ++registrations_;
  if (misbehaviour_.ignores_spaces) return;
  const std::uint32_t sequence = message.header().sequence;
  const auto encoding = message.tail<RegisterSpace>();
  const Result<Spec> spec = decode_spec(encoding);
  const Status& status = misbehaviour_.space_refusal.is_ok() ? spec.status() : misbehaviour_.space_refusal;
  if (!status.is_ok()) {
    (void)send_refused(peer.socket.get(), sequence, status);
    return;
  }
  SpaceReady ready{};
  ready.header = message_header(MessageType::kSpaceReady, sizeof ready, sequence);
  ready.digest = sha256(encoding);
  ready.block_bytes = spec.value().block_bytes();
  ready.space = store_->space_of(ready.digest, ready.block_bytes);
  ready.slot_bytes = store_->spaces[static_cast<std::uint32_t>(ready.space) - 1].slot_bytes;
  (void)send_message(peer.socket.get(), ready);
}

bool FakeDaemon::serve_ring(Peer& peer) {
  // Always "asleep": the doorbell is rung every time, and ignored, for the ring is polled.
  reinterpret_cast<ChannelHeader*>(peer.channel->memory.memory.data())->daemon_sleeps.store(1);
  if (misbehaviour_.takes_no_records) return false;
  bool did_work = false;
  Submission submission{};
  while (!peer.is_gone && peer.submissions->pop(submission) == RingResult::kDone) {
    did_work = true;
    if (misbehaviour_.hangs_up_on.count(submission.op) != 0) {
      drop(peer);
    } else if (misbehaviour_.unanswered.count(submission.op) != 0) {
      peer.kept.push_back(submission);
    } else {
      serve(peer, submission);
    }
  }
  return did_work;
}

std::byte* FakeDaemon::arena(const Peer& peer, const Submission& submission) {
  return peer.channel->memory.memory.data() + ChannelLayout::kArena + submission.arena_offset;
}

void FakeDaemon::serve(Peer& peer, const Submission& submission) {
  std::vector<Key> keys(submission.op == Op::kWait ? submission.count : 0);
  switch (submission.op) {
    case Op::kEcho:
    case Op::kPin:
    case Op::kUnpin:
      return answer(peer, submission, Code::kOk, submission.count);
    case Op::kReserve:
      return reserve(peer, submission);
    case Op::kCommit:
    case Op::kAbort:
      return finish(peer, submission);
    case Op::kWait:
      std::memcpy(keys.data(), arena(peer, submission), keys.size() * sizeof(Key));
      peer.waits.emplace_back(submission, std::move(keys));
      return;
    case Op::kRestore:
      return restore(peer, submission);
    case Op::kInvalidate:
      return answer(peer, submission, Code::kOk, store_->invalidate(submission.space));
    case Op::kCancel:
      return;
    case Op::kStock:
      return refill(peer, submission);
    case Op::kSums:
      return sums(peer, submission);
    case Op::kSync:
      return sync(peer, submission);
  }
}

void FakeDaemon::reserve(Peer& peer, const Submission& submission) {
  std::byte* range = arena(peer, submission);
  std::vector<Key> keys(submission.count);
  std::memcpy(keys.data(), range + sizeof(ReserveHead), keys.size() * sizeof(Key));
  std::vector<ReserveResult> results;
  std::uint32_t granted = 0;
  bool is_short = false;
  for (const Key& key : keys) {
    results.push_back(store_->reserve(submission.space, key, peer.channel->id));
    granted += results.back().code == Code::kOk ? 1 : 0;
    is_short |= results.back().code == Code::kNoSpace;
  }
  if (is_short && (submission.flags & kFlagAllOrNothing) != 0) {
    for (ReserveResult& result : results) {
      if (result.code != Code::kOk) continue;
      (void)store_->abort(result.hold, peer.channel->id);
      result = {Code::kNoSpace, store_->no_space_cause, 0, {}, {}, 0};
    }
    granted = 0;
  }
  std::memcpy(range + reserve_results_offset(submission.count), results.data(),
              results.size() * sizeof(ReserveResult));
  answer(peer, submission, is_short ? Code::kNoSpace : Code::kOk, granted,
         is_short ? store_->no_space_cause : Cause::kNone);
}

void FakeDaemon::restore(Peer& peer, const Submission& submission) {
  std::vector<Key> keys(submission.count);
  std::memcpy(keys.data(), arena(peer, submission), keys.size() * sizeof(Key));
  std::uint32_t started = 0;
  bool is_short = false;
  for (const Key& key : keys) {
    const Code code = store_->restore(submission.space, key);
    started += code == Code::kOk ? 1 : 0;
    is_short |= code == Code::kNoSpace;
  }
  if (!misbehaviour_.holds_restores) store_->end_restores(true);
  answer(peer, submission, is_short ? Code::kNoSpace : Code::kOk, started,
         is_short ? store_->no_space_cause : Cause::kNone);
}

// It has them all at once, or never: then it answers as if the deadline had come.
void FakeDaemon::sync(Peer& peer, const Submission& submission) {
  const Completion& end = store_->sync_end;
  const bool is_whole = submission.count == 0;
  if (end.code == Code::kOk)
    return answer(peer, submission, Code::kOk, is_whole ? store_->ready_count() : submission.count);
  answer(peer, submission, end.code, end.count, end.cause, end.value);
}

void FakeDaemon::sums(Peer& peer, const Submission& submission) {
  std::vector<SumEntry> entries(submission.count);
  std::memcpy(entries.data(), arena(peer, submission), entries.size() * sizeof(SumEntry));
  if ((submission.flags & kFlagDoubt) != 0)
    store_->doubted.insert(store_->doubted.end(), entries.begin(), entries.end());
  store_->sums(submission.space, entries);
  std::memcpy(arena(peer, submission), entries.data(), entries.size() * sizeof(SumEntry));
  answer(peer, submission, store_->has_no_sums ? Code::kDeadline : Code::kOk);
}

void FakeDaemon::refill(Peer& peer, const Submission& submission) {
  std::byte* channel = peer.channel->memory.memory.data();
  store_->refill(submission.space, submission.count, Stock(channel + ChannelLayout::kStock),
                 peer.channel->id);
  reinterpret_cast<ChannelHeader*>(channel)->stock_refills.fetch_add(1);
  ++refills_;
}

void FakeDaemon::finish(Peer& peer, const Submission& submission) {
  Code first = Code::kOk;
  HoldCodes codes = 0;
  for (std::uint32_t i = 0; i < submission.count; ++i) {
    const Hold& hold = submission.holds[i];
    const Code code = submission.op == Op::kCommit ? store_->commit(hold, peer.channel->id)
                                                   : store_->abort(hold, peer.channel->id);
    if (first == Code::kOk) first = code;
    codes = with_hold_code(codes, i, code);
  }
  if ((submission.flags & kFlagReply) != 0)
    answer(peer, submission, first, submission.count, Cause::kNone, codes);
}

void FakeDaemon::check_waits(Peer& peer) {
  std::erase_if(peer.waits, [&](const auto& wait) {
    bool is_pending = false;
    for (const Key& key : wait.second) is_pending |= store_->is_pending(wait.first.space, key);
    const bool is_late = wait.first.deadline_ns != 0 && SystemClock().now_ns() >= wait.first.deadline_ns;
    if (is_pending && !is_late) return false;
    answer(peer, wait.first, is_pending ? Code::kDeadline : Code::kOk);
    return true;
  });
}

void FakeDaemon::answer(Peer& peer, const Submission& submission, Code code, std::uint32_t count, Cause cause,
                        std::uint64_t value) {
  Completion completion{};
  completion.request_id = submission.request_id;
  completion.code = code;
  completion.count = count;
  completion.value = value;
  completion.cause = cause;
  completion.detail = cause == Cause::kPinnedBy ? 4711 : 0;
  (void)peer.completions->push(completion);
  auto* header = reinterpret_cast<ChannelHeader*>(peer.channel->memory.memory.data());
  if (header->client_waiters.load() == 0) return;
  ::syscall(SYS_futex, &header->completion_tail, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kvtier::test
