// kvc_reserve: one request for up to 4096 keys; longer calls are split, the last key of a part being the
// parent of the next.

#include "libkvclient/src/reserve.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/answer.h"
#include "libkvclient/src/earlier_grants.h"
#include "libkvclient/src/options.h"
#include "libkvclient/src/pace.h"
#include "libkvclient/src/request_call.h"
#include "libkvclient/src/stock.h"

namespace kvtier::client {
namespace {

kvc_slot without_room(Code code) {
  kvc_slot slot{};
  slot.code = static_cast<std::int32_t>(code);
  return slot;
}

// A range of keys with what the daemon is asked for them.
struct ReservePart {
  std::size_t first;  ///< index of keys[0] in the call
  Key parent;
  std::span<const Key> keys;
  std::span<kvc_slot> slots;
  std::uint16_t flags;
};

class Reserver {
 public:
  /// `earlier`: of the whole call.
  Reserver(Space& space, const BoundLink& bound, const EarlierGrants& earlier, TimeNs deadline_ns)
      : space_(space), core_(*space.core), bound_(bound), deadline_ns_(deadline_ns), earlier_(earlier) {}

  Status run(const ReservePart& part) {
    RequestCall call;
    call.submission.op = Op::kReserve;
    call.submission.flags = part.flags;
    call.submission.space = bound_.binding.space;
    call.submission.count = static_cast<std::uint32_t>(part.keys.size());
    call.submission.deadline_ns = deadline_ns_ == kNever ? 0 : deadline_ns_;
    call.arena_bytes = reserve_request_bytes(call.submission.count);
    call.fill = [&part](std::byte* arena) {
      const ReserveHead head{part.parent};
      std::memcpy(arena, &head, sizeof head);
      std::memcpy(arena + sizeof head, part.keys.data(), part.keys.size_bytes());
      preset_results(arena + sizeof head + part.keys.size_bytes(), part.keys.size());
    };
    call.read = [&](const std::byte* arena, const Completion& answer) {
      return take_results(part, arena + reserve_results_offset(call.submission.count), answer);
    };
    const Result<Completion> answer = request(core_, *bound_.link.requests, call, deadline_ns_);
    if (!answer.is_ok()) return answer.status();
    const bool is_partial = answer.value().code == Code::kNoSpace && (part.flags & kFlagAllOrNothing) == 0;
    if (is_partial || answer.value().code == Code::kOk) return Status::ok();
    return status_of(answer.value(), Op::kReserve);
  }

  /// Of the first slot that failed by itself: what the call's own code does not say.
  [[nodiscard]] const Status& slot_failure() const { return slot_failure_; }

 private:
  // An answer without results must not find those of an earlier request in its range.
  static void preset_results(std::byte* results, std::size_t count) {
    ReserveResult none{};
    none.code = Code::kUnavailable;
    for (std::size_t i = 0; i < count; ++i) std::memcpy(results + i * sizeof none, &none, sizeof none);
  }

  Status take_results(const ReservePart& part, const std::byte* results, const Completion& answer) {
    (void)KV_FAULT("client.reserve.answered");
    for (std::size_t i = 0; i < part.slots.size(); ++i) {
      ReserveResult result{};
      std::memcpy(&result, results + i * sizeof result, sizeof result);
      const bool is_preset = result.code == Code::kUnavailable && answer.code != Code::kOk;
      if (is_preset) {
        result.code = answer.code;
        result.cause = answer.cause;
      }
      part.slots[i] = take_result(part, i, result, answer);
    }
    if (std::exchange(has_given_up_, false))
      core_.wake_service();  // in case that aborts have to go out later
    (void)KV_FAULT("client.reserve.lent");
    return Status::ok();
  }

  kvc_slot take_result(const ReservePart& part, std::size_t i, const ReserveResult& result,
                       const Completion& answer) {
    kvc_slot slot = without_room(result.code);
    slot.cause = static_cast<std::int32_t>(result.cause);
    const bool has_pid = result.cause == Cause::kPinnedBy || result.cause == Cause::kWriterBusy;
    slot.detail = has_pid ? answer.detail : 0;
    if (result.code == Code::kPending && earlier_.has(part.keys[i], part.first)) {
      note_failure(part, i, {Code::kInvalid, "is there twice"});
      return without_room(Code::kInvalid);
    }
    if (result.code == Code::kInvalid) note_failure(part, i, refusal_of(part.keys[i]));
    if (result.code != Code::kOk) return slot;
    const Result<std::byte*> data =
        core_.lend(bound_, {result.slot, result.hold}, space_.block_bytes, deadline_ns_);
    if (!data.is_ok()) {
      give_up(result);
      const Code code = data.code() == Code::kNotFound ? Code::kDeadline : data.code();
      note_failure(part, i, {code, "cannot be written: " + data.status().message()});
      return without_room(code);
    }
    slot.data = data.value();
    slot.private_slot = result.slot.bits;
    slot.private_hold[0] = result.hold.block;
    slot.private_hold[1] = result.hold.generation_low;
    slot.private_session = slot_session(bound_.link.session->serial, bound_.link.epoch);
    core_.counts.reservations_open.fetch_add(1, std::memory_order_relaxed);
    core_.counts.reserve_new.fetch_add(1, std::memory_order_relaxed);
    return slot;
  }

  // The daemon says no more than kInvalid.
  static Status refusal_of(const Key& key) {
    if (key == Key{}) return {Code::kInvalid, "is all zero, which names no block"};
    return {Code::kInvalid, "is there twice"};
  }

  void note_failure(const ReservePart& part, std::size_t i, const Status& why) {
    if (!slot_failure_.is_ok()) return;
    const std::string which = "kvc_reserve: keys[" + std::to_string(part.first + i) + "] ";
    slot_failure_ = Status(why.code(), which + why.message());
  }

  // Granted, but the slab cannot be written here: hand it back at once.
  void give_up(const ReserveResult& result) {
    Submission abort{};
    abort.op = Op::kAbort;
    abort.space = bound_.binding.space;
    abort.count = 1;
    abort.arena_offset = kNoArena;
    abort.holds[0] = result.hold;
    bound_.link.requests->push_abort(abort);
    has_given_up_ = true;
  }

  Space& space_;
  Core& core_;
  const BoundLink& bound_;
  const TimeNs deadline_ns_;
  EarlierGrants earlier_;
  bool has_given_up_ = false;
  Status slot_failure_;
};

Status claim(Space& space, const BoundLink& bound, const Key& parent, std::span<const Key> keys,
             std::uint32_t flags, TimeNs deadline_ns, std::span<kvc_slot> slots) {
  Reserver reserver(space, bound, {keys, slots}, deadline_ns);
  ReservePart part{
      0, parent, {}, {}, (flags & KVC_ALL_OR_NOTHING) != 0 ? kFlagAllOrNothing : std::uint16_t{0}};
  Pace pace(deadline_ns);
  while (!keys.empty()) {
    if (pace.is_over())
      return {Code::kDeadline, "kvc_reserve: the deadline passed before all keys were asked for"};
    const std::size_t count = std::min<std::size_t>(keys.size(), kRequestKeysMax);
    part.keys = keys.first(count);
    part.slots = slots.first(count);
    KV_RETURN_IF_ERROR(reserver.run(part));
    part.parent = part.keys.back();
    part.first += count;
    pace.add(count);
    keys = keys.subspan(count);
    slots = slots.subspan(count);
  }
  (void)report(reserver.slot_failure());  // the call's code stays kOk
  return Status::ok();
}

bool is_short(std::span<const kvc_slot> slots) {
  return std::ranges::any_of(slots, [](const kvc_slot& slot) { return slot.code == KVC_NO_SPACE; });
}

// A refill is not asked of a daemon that has no room: it would be taken back at once.
Status reserve_unclaimed(Space& space, const BoundLink& bound, const Key& parent, std::span<const Key> keys,
                         std::uint32_t flags, TimeNs deadline_ns, std::span<kvc_slot> slots) {
  const StockOutcome stocked = stock_reserve(space, bound, parent, keys, deadline_ns, slots);
  if (stocked.is_over)
    return {Code::kDeadline, "kvc_reserve: the deadline passed before all keys were looked up"};
  Status status;
  if (!stocked.is_answered) status = claim(space, bound, parent, keys, flags, deadline_ns, slots);
  if (status.is_ok() && !is_short(slots)) stock_refill(space, bound, stocked);
  return status;
}

Status reserve(Space& space, const Key& parent, std::span<const Key> keys, std::uint32_t flags,
               TimeNs deadline_ns, std::span<kvc_slot> slots) {
  const Result<BoundLink> bound = space.core->bound_link(space);
  if (!bound.is_ok()) return bound.status();
  const auto way = (flags & KVC_NO_CLAIM) != 0 ? reserve_unclaimed : claim;
  return way(space, bound.value(), parent, keys, flags, deadline_ns, slots);
}

// Of a call that is all or nothing, at most kRequestKeysMax: the daemon would grant the others, which is neither. Without
// allocating, for KVC_NO_CLAIM.
Status check_keys(std::span<const Key> keys) {
  std::array<std::uint16_t, kRequestKeysMax> order;
  const std::span<std::uint16_t> sorted = std::span(order).first(keys.size());
  std::iota(sorted.begin(), sorted.end(), std::uint16_t{0});
  std::ranges::sort(sorted, {}, [&](std::uint16_t i) { return std::pair(keys[i].words, i); });
  std::size_t twice = keys.size();
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (keys[sorted[i]] == keys[sorted[i - 1]]) twice = std::min<std::size_t>(twice, sorted[i]);
  }
  const auto zero = static_cast<std::size_t>(std::ranges::find(keys, Key{}) - keys.begin());
  if (zero == keys.size() && twice == keys.size()) return Status::ok();
  const std::string which = "kvc_reserve: keys[" + std::to_string(std::min(zero, twice)) + "] ";
  return {Code::kInvalid, which + (zero <= twice ? "is all zero, which names no block" : "is there twice") +
                              ": all or nothing is nothing"};
}

// The arguments of kvc_reserve.
struct ReserveArguments {
  const kvc_space* space;
  const kvc_key* keys;
  std::size_t count;
  const kvc_reserve_options* options;
  const kvc_slot* slots;
};

Status check_request(const ReserveArguments& given, kvc_reserve_options& chosen) {
  if (given.space == nullptr || (given.count > 0 && (given.keys == nullptr || given.slots == nullptr)))
    return {Code::kInvalid, "kvc_reserve: space, keys and slots must not be NULL"};
  KV_RETURN_IF_ERROR(read_struct("kvc_reserve", given.options, chosen));
  KV_RETURN_IF_ERROR(check_flags("kvc_reserve", chosen.flags, KVC_ALL_OR_NOTHING | KVC_NO_CLAIM,
                                 "KVC_ALL_OR_NOTHING and KVC_NO_CLAIM"));
  if ((chosen.flags & KVC_ALL_OR_NOTHING) == 0) return Status::ok();
  if (given.count <= kRequestKeysMax) return check_keys(as_keys(given.keys, given.count));
  return {Code::kInvalid, "kvc_reserve: all-or-nothing takes at most 4096 keys"};
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_reserve(kvc_space* space, const kvc_key* keys, size_t count,
                           const kvc_reserve_options* options, kvc_slot* slots) try {
  const TimeNs begin_ns = client::now_ns();
  // Before anything that can throw: the slots have a code whatever comes.
  if (slots != nullptr) std::fill_n(slots, count, client::without_room(Code::kUnavailable));
  kvc_reserve_options chosen{};
  const Status wrong = client::check_request({space, keys, count, options, slots}, chosen);
  if (!wrong.is_ok()) {
    if (slots != nullptr) std::fill_n(slots, count, client::without_room(wrong.code()));
    return client::report(wrong);
  }
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  client::Core& core = *space->space->core;
  core.counts.reserve_keys.fetch_add(count, std::memory_order_relaxed);
  const Key parent = chosen.parent != nullptr ? digest_from_bytes(chosen.parent) : Key{};
  const Status status =
      client::reserve(*space->space, parent, client::as_keys(keys, count), chosen.flags,
                      client::deadline_of(core, chosen.deadline_ns, begin_ns), {slots, count});
  return client::report_counted(core, status);
} catch (...) {
  return client::report_exception();
}
