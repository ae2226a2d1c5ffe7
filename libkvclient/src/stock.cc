#include "libkvclient/src/stock.h"

#include <algorithm>
#include <array>
#include <bit>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/match.h"
#include "libkvclient/src/pace.h"
#include "libkvclient/src/reserve.h"

namespace kvtier::client {

namespace {

constexpr std::uint32_t kTooMany = kStockEntries + 1;

int code_of(std::uint8_t state) {
  if (state == KVC_READY) return KVC_EXISTS;
  return state == KVC_STATE_PENDING ? KVC_PENDING : KVC_OK;
}

// Each slot's code by the directory: KVC_OK for a key that is missing. How many are; kTooMany also when one is no key
// or the directory cannot be read, which the daemon answers better.
std::uint32_t find_missing(Space& space, std::span<const Key> keys, Pace& pace, std::span<kvc_slot> slots) {
  std::array<std::uint8_t, kStockEntries> states{};
  std::uint32_t missing = 0;
  for (std::size_t at = 0; at < keys.size() && !pace.is_over(); at += states.size()) {
    const std::span<const Key> some = keys.subspan(at, std::min(states.size(), keys.size() - at));
    if (!find_states(space, some, states.data())) return kTooMany;
    for (std::size_t i = 0; i < some.size(); ++i) {
      slots[at + i].code = code_of(states[i]);
      missing += slots[at + i].code == KVC_OK ? 1 : 0;
      if (some[i].is_zero() || missing > kStockEntries) return kTooMany;
    }
    pace.add(some.size());
  }
  return missing;
}

void say_unanswered(std::span<kvc_slot> slots) {
  kvc_slot none{};
  none.code = KVC_UNAVAILABLE;
  std::ranges::fill(slots, none);
}

}  // namespace

// One section under the mutex: in it the connection stays the one that the slots are labelled with, and nobody else
// takes from the stock, so that what is put back was not another's meanwhile.
bool Core::take_stock(const BoundLink& bound, const StockCall& call) {
  Session& session = *bound.link.session;
  const std::lock_guard lock(mutex_);
  const bool is_current = session_ == bound.link.session && session.epoch == bound.link.epoch &&
                          state_ == ConnectionState::kConnected && !is_closed.load();
  if (!is_current) return false;
  Stock stock = session.stock();
  std::array<std::uint32_t, kStockEntries> taken{};
  std::size_t count = 0;
  std::uint32_t entry = 0;
  for (std::size_t i = 0; i < call.keys.size(); ++i) {
    kvc_slot& slot = call.slots[i];
    if (slot.code != KVC_OK) continue;
    while (entry < kStockEntries && !take_entry(bound, call, entry, slot)) ++entry;
    if (entry == kStockEntries) break;
    stock.set_name(entry, {call.keys[i], i == 0 ? call.parent : call.keys[i - 1]});
    taken[count++] = entry++;
  }
  if (count == call.missing) return true;
  for (std::size_t i = 0; i < call.slots.size(); ++i) {
    if (call.slots[i].data != nullptr) untake_entry(session, call.slots[i]);
  }
  for (std::size_t i = 0; i < count; ++i) stock.put_back(taken[i], bound.binding.space);
  return false;
}

// False: not on offer, or in a slab that is not mapped yet, whose announcement travels on the socket.
bool Core::take_entry(const BoundLink& bound, const StockCall& call, std::uint32_t entry, kvc_slot& slot) {
  Session& session = *bound.link.session;
  Stock stock = session.stock();
  if (!stock.take(entry, bound.binding.space)) return false;
  const StockGrant grant = stock.grant(entry);
  const Result<std::byte*> data =
      session.mappings.lend({grant.slot, grant.hold}, bound.binding.slot_bytes, call.block_bytes);
  if (!data.is_ok()) {
    stock.put_back(entry, bound.binding.space);
    return false;
  }
  session.users.fetch_add(1, std::memory_order_relaxed);  // under the mutex, as lend() has it
  slot.data = data.value();
  slot.private_slot = grant.slot.bits;
  slot.private_hold[0] = grant.hold.block;
  slot.private_hold[1] = grant.hold.generation_low;
  slot.private_session = slot_session(session.serial, session.epoch);
  return true;
}

void Core::untake_entry(Session& session, const kvc_slot& slot) {
  bool wants_service = false;
  (void)session.mappings.give_back(grant_of(slot), &wants_service);
  session.users.fetch_sub(1, std::memory_order_relaxed);  // nothing was written
  if (wants_service) wake_service();
}

StockOutcome stock_reserve(Space& space, const BoundLink& bound, const Key& parent, std::span<const Key> keys,
                           TimeNs deadline_ns, std::span<kvc_slot> slots) {
  StockOutcome outcome;
  if (!bound.link.has_stock) return outcome;
  Pace pace(deadline_ns);
  outcome.missing = find_missing(space, keys, pace, slots);
  outcome.is_over = pace.is_over();
  if (outcome.missing < kTooMany && !outcome.is_over) {
    outcome.is_answered =
        space.core->take_stock(bound, {parent, keys, slots, outcome.missing, space.block_bytes});
  }
  if (!outcome.is_answered) {
    say_unanswered(slots);
    return outcome;
  }
  (void)KV_FAULT("client.stock.taken");
  SlowCounts& counts = space.core->counts;
  counts.reservations_open.fetch_add(outcome.missing, std::memory_order_relaxed);
  counts.reserve_new.fetch_add(outcome.missing, std::memory_order_relaxed);
  counts.reserve_stocked.fetch_add(outcome.missing, std::memory_order_relaxed);
  return outcome;
}

namespace {

// How many offers to ask for. A call that found too few makes it grow: to what two such calls need, or, where that was
// asked for already and refills did not keep up, to twice as many. relaxed: a hint; threads that change it at once do
// no harm.
std::uint32_t stock_target(Space& space, const StockOutcome& outcome) {
  constexpr std::uint32_t kFirst = 8;
  std::uint32_t target = space.stock_target.load(std::memory_order_relaxed);
  if (outcome.is_answered || outcome.missing > kStockEntries) return target;
  const std::uint32_t two_calls = std::bit_ceil(2 * std::min(outcome.missing, kStockEntries / 2));
  target = std::min(kStockEntries, target < two_calls ? std::max(two_calls, kFirst) : 2 * target);
  space.stock_target.store(target, std::memory_order_relaxed);
  return target;
}

}  // namespace

void stock_refill(Space& space, const BoundLink& bound, const StockOutcome& outcome) {
  if (!bound.link.has_stock) return;
  Session& session = *bound.link.session;
  const std::uint32_t target = stock_target(space, outcome);
  const bool is_low = session.stock().offered_count(bound.binding.space) <= target / 2;
  if (target == 0 || !is_low || !session.stock_ask_begin()) return;
  Submission ask{};
  ask.op = Op::kStock;
  ask.space = bound.binding.space;
  ask.count = target;
  ask.arena_offset = kNoArena;
  Requests& requests = *bound.link.requests;
  if (!requests.take_place(0).is_ok() || !requests.push(ask).is_ok()) session.stock_ask_undo();
}

}  // namespace kvtier::client
