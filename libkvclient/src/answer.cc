#include "libkvclient/src/answer.h"

#include <array>

#include "kvclient/kvclient.h"

namespace kvtier::client {
namespace {

const char* verb_of(Op op) {
  switch (op) {
    case Op::kEcho:
      return "kvc_ping";
    case Op::kReserve:
      return "kvc_reserve";
    case Op::kCommit:
      return "kvc_commit";
    case Op::kAbort:
      return "kvc_abort";
    case Op::kWait:
      return "kvc_wait";
    case Op::kRestore:
      return "kvc_restore";
    case Op::kPin:
      return "kvc_pin";
    case Op::kUnpin:
      return "kvc_unpin";
    case Op::kInvalidate:
      return "kvc_invalidate";
    case Op::kSums:
      return "kvc_acquire";
    case Op::kSync:
      return "kvc_sync";
    case Op::kCancel:
    case Op::kStock:
      break;
  }
  return "request";
}

// Those that one operation answers with; the numbers are the daemon's limits (WIRE.md, "Commands").
struct Reason {
  Op op;
  Code code;
  const char* text;
};
constexpr const char* kEndedBefore =
    "not reserved any more: it was committed or aborted before, through a copy of the kvc_slot or by another "
    "thread; end each slot once";
constexpr std::array kReasons = {
    Reason{Op::kCommit, Code::kInvalid, kEndedBefore},
    Reason{Op::kAbort, Code::kInvalid, kEndedBefore},
    Reason{Op::kCommit, Code::kStale,
           "lost: its space was invalidated after the reservation; compute and reserve anew"},
    Reason{Op::kCommit, Code::kExists,
           "lost: another client committed this block first; acquire that one (kvc_reserve without "
           "KVC_NO_CLAIM computes each block once)"},
    Reason{Op::kCommit, Code::kPending,
           "lost: another client has claimed this block; kvc_wait for it (kvc_reserve without KVC_NO_CLAIM "
           "computes each block once)"},
    Reason{Op::kCommit, Code::kNoSpace, "lost: the index is full; raise index.blocks_max"},
    Reason{Op::kReserve, Code::kStale,
           "the space is being invalidated; reserve again when the kvc_invalidate has returned"},
    Reason{Op::kPin, Code::kNoSpace,
           "the namespace's budget for pins is used up, and what fitted is pinned; unpin, let pins run out, "
           "or raise limits.pinned_fraction_namespace"},
    Reason{Op::kPin, Code::kInvalid, "ttl_ns must be 1 ns to 24 h"},
    Reason{Op::kWait, Code::kBusy,
           "the waits of this client, or of all, concern too many pending blocks (131,072 and 1,048,576 at "
           "most); wait for "
           "fewer keys at once"},
    Reason{Op::kWait, Code::kDeadline,
           "blocks are pending still: their writers have neither committed nor aborted them; wait longer, or "
           "compute without the cache"},
    Reason{Op::kInvalidate, Code::kNoSpace,
           "memory is clean, but the NVMe tier has no room to note it, so that a restart may bring the "
           "blocks back: "
           "invalidate the whole namespace once, which stands for all earlier notes, or raise "
           "nvme.paths[].bytes"},
    Reason{
        Op::kInvalidate, Code::kUnavailable,
        "memory is clean, but the NVMe tier is shut, or none of its paths can be written, and so it cannot "
        "note it: a restart may bring the blocks back; "
        "see kvctl status, and invalidate again when the tier serves"},
    Reason{Op::kSync, Code::kUnsupported,
           "this daemon has no NVMe tier: nothing outlives its memory; name folders in nvme.paths"},
    Reason{Op::kSync, Code::kUnavailable,
           "the NVMe tier is shut, or its paths took nothing for 5 s: what is not on disk is counted in "
           "`unsaved`; see kvctl status"},
    Reason{
        Op::kSync, Code::kNotFound,
        "some of the blocks are not there: never committed, or out of memory before they could be written"},
    Reason{Op::kSync, Code::kInvalid,
           "the NVMe tier does not take blocks of this space; see the daemon's log"},
    Reason{
        Op::kSync, Code::kSystem,
        "a write or an fdatasync failed, now or since the daemon's start: what was written before that may "
        "not outlive a power cut; see kvctl status"},
    Reason{Op::kSync, Code::kDeadline,
           "the blocks are being written still: nothing is promised yet; ask again"},
    Reason{Op::kSync, Code::kBusy, "4 calls of this client, or 64 of all, are under way; wait for one"},
    Reason{Op::kInvalidate, Code::kBusy,
           "16 invalidations of this client are under way; wait until one has ended"},
};

std::string cause_text(Cause cause, std::uint32_t pid) {
  switch (cause) {
    case Cause::kTierFull:
      return "no room, and nothing can be evicted";
    case Cause::kPinnedBy:
      return "no room: leases and pins hold the rest, most of it pid " + std::to_string(pid) +
             "; release them, or raise host.bytes";
    case Cause::kQuota:
      return "no room: the namespace has all of its host_bytes_max";
    case Cause::kWriterBusy:
      return "no room: pid " + std::to_string(pid) +
             " has reserved the memory, or does not give back what it was asked for; it has to commit or "
             "abort its "
             "slots; if it is stopped, continue or end it";
    case Cause::kRequestTooLarge:
      return "more than there can ever be room for; ask for fewer keys, or raise host.bytes";
    case Cause::kIndexFull:
      return "no room: the index is full; raise index.blocks_max";
    case Cause::kWriteBudget:
      return "the day's write budget is used up; wait, or raise nvme.write_budget_bytes_per_day";
    case Cause::kDiskFull:
      return "the NVMe tier has no room for all of it; raise nvme.paths[].bytes";
    case Cause::kInvalidated:
      return "the space is being invalidated";
    case Cause::kNone:
      break;
  }
  return "";
}

// The same whichever operation was asked for.
const char* common_text(Code code) {
  switch (code) {
    case Code::kDenied:
      return "this client may only read: it was opened with KVC_READ_ONLY, or the daemon's configuration "
             "lists its user under "
             "readers";
    case Code::kNotFound:
      return "the daemon does not know the space any more; register it again";
    default:
      return nullptr;
  }
}

}  // namespace

std::string reason_of(Op op, Code code, Cause cause, std::uint32_t detail) {
  for (const Reason& reason : kReasons) {
    if (reason.op == op && reason.code == code) return reason.text;
  }
  std::string why = cause_text(cause, detail);
  if (!why.empty()) return why;
  const char* common = common_text(code);
  if (common != nullptr) return common;
  return "the daemon, of another version than this library, refuses it with " + std::string(code_name(code));
}

Status status_of(const Completion& answer, Op op) {
  if (answer.code == Code::kOk) return Status::ok();
  return {answer.code,
          std::string(verb_of(op)) + ": " + reason_of(op, answer.code, answer.cause, answer.detail)};
}

}  // namespace kvtier::client
