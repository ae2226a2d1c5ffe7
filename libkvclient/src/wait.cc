// kvc_wait and kvc_restore: ask the daemon only when the directory says that something is pending, or on disk. A slab's
// announcement travels on the socket, beside the directory that already shows the slab's blocks; they are waited for
// too, so that an acquire after it finds what it said is ready.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "libkvclient/src/answer.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/match.h"
#include "libkvclient/src/pace.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {
namespace {

struct WaitCall {
  TimeNs deadline_ns = 0;  ///< as the contract has it, from begin_ns on; absolute once the call is checked
  TimeNs begin_ns = 0;
  bool restores = false;  ///< asks for what is on disk first
};

Status too_many_keys() {
  return {Code::kDeadline, "the deadline passed before all keys were looked up"};
}

std::span<const Key> stretch_of(std::span<const Key> keys, std::size_t at) {
  return keys.subspan(at, std::min(kPaceKeys, keys.size() - at));
}

// The states of all keys; each stretch is a look of its own, so that no grace period waits for a long call. What the
// deadline leaves out stays as it was; without a connection everything is missing. Counts as one match.
Status look(Space& space, std::span<const Key> keys, TimeNs deadline_ns, std::uint8_t* states) {
  Core& core = *space.core;
  Pace pace(deadline_ns);
  core.readers.shard().add(Count::kMatchCalls, 1);
  std::size_t at = 0;
  do {
    if (pace.is_over()) return too_many_keys();
    const std::span<const Key> some = stretch_of(keys, at);
    if (!find_states(space, some, states + at)) {
      std::fill_n(states, keys.size(), std::uint8_t{KVC_MISSING});
      return core.or_closed({Code::kUnavailable, "not connected to the daemon; kvc_status says why"});
    }
    at += some.size();
    pace.add(some.size());
  } while (at < keys.size());
  core.readers.shard().add(Count::kMatchKeys, keys.size());
  return Status::ok();
}

// Those in that state, in requests of at most kRequestKeysMax, one after the other: each ends at the deadline.
Status ask_for(Space& space, Op op, std::uint8_t state, std::span<const Key> keys, const std::uint8_t* states,
               TimeNs deadline_ns, bool& has_asked) {
  std::vector<Key> some;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (states[i] == state) some.push_back(keys[i]);
    const bool is_due = some.size() == kRequestKeysMax || i + 1 == keys.size();
    if (!is_due || some.empty()) continue;
    has_asked = true;
    const Result<BoundLink> bound = space.core->bound_link(space);
    if (!bound.is_ok()) return bound.status();
    Submission submission{};
    submission.op = op;
    Completion answer;
    KV_RETURN_IF_ERROR(request_with_keys(*space.core, bound.value(), submission, some, deadline_ns, answer));
    KV_RETURN_IF_ERROR(status_of(answer, op));
    some.clear();
  }
  return Status::ok();
}

// What is on disk is asked for, and then pending. No room for some of it: the rest is waited for all the same.
Status restore(Space& space, std::span<const Key> keys, TimeNs deadline_ns, std::uint8_t* states) {
  bool has_asked = false;
  const Status asked = ask_for(space, Op::kRestore, KVC_STATE_ON_DISK, keys, states, deadline_ns, has_asked);
  return has_asked ? asked : Status::ok();
}

// How many leading keys have no block in a slab that this client has yet to map. Without a connection: all.
std::size_t settled_count(const Space& space, std::span<const Key> keys) {
  Core& core = *space.core;
  const ReadSection section(core.readers, core.view);
  const View* view = section.view();
  const Binding binding = Binding::unpack(space.binding.load(std::memory_order_acquire));
  if (view == nullptr || !binding.is_of(view->epoch)) return keys.size();
  if (view->directory.is_moved()) return 0;  // what it says of these keys may be old
  std::size_t count = 0;
  view->directory.find_chunks(
      binding.space, keys,
      [&](std::size_t, bool is_found, const Residency& at) {
        const bool is_ready = is_found && at.host.is_present() && !at.is_pending();
        const bool is_settled = !is_ready || view->is_mapped(at.host.slot.slab());
        count += is_settled ? 1 : 0;
        return is_settled;
      },
      [](std::size_t, std::size_t) {});
  return count;
}

Status wait_for_slabs(const Space& space, std::span<const Key> keys, TimeNs deadline_ns, bool& has_waited) {
  Pace pace(deadline_ns);
  for (std::size_t at = 0; at < keys.size();) {
    if (pace.is_over()) return too_many_keys();
    const std::span<const Key> some = stretch_of(keys, at);
    const std::size_t settled = settled_count(space, some);
    at += settled;
    pace.add(settled);
    if (settled == some.size()) continue;
    has_waited = true;
    const auto is_settled = [&] { return settled_count(space, keys.subspan(at, 1)) == 1; };
    if (!space.core->wait_for_change(is_settled, deadline_ns)) {
      return space.core->or_closed(
          {Code::kDeadline,
           "a block is ready in memory, or in a directory, that the daemon has not announced here yet"});
    }
  }
  return Status::ok();
}

// `ready` last: nothing can throw after it.
int wait(Space& space, std::span<const Key> keys, const WaitCall& call, std::uint8_t* states,
         std::size_t& ready) {
  const TimeNs deadline_ns = call.deadline_ns;
  bool has_waited = false;
  Status status = look(space, keys, deadline_ns, states);
  Status no_room = Status::ok();
  if (status.is_ok() && call.restores && std::count(states, states + keys.size(), KVC_STATE_ON_DISK) > 0) {
    has_waited = true;
    status = restore(space, keys, deadline_ns, states);
    if (status.code() == Code::kNoSpace) no_room = std::exchange(status, Status::ok());
    if (status.is_ok()) status = look(space, keys, deadline_ns, states);
  }
  if (status.is_ok())
    status = ask_for(space, Op::kWait, KVC_STATE_PENDING, keys, states, deadline_ns, has_waited);
  if (status.is_ok()) status = wait_for_slabs(space, keys, deadline_ns, has_waited);
  const Status now = has_waited ? look(space, keys, deadline_ns, states) : Status::ok();
  if (status.is_ok()) status = now.is_ok() ? no_room : now;
  const auto* end = std::find_if(states, states + keys.size(), [](auto state) { return state != KVC_READY; });
  const int code = report_counted(*space.core, status);
  ready = static_cast<std::size_t>(end - states);
  space.core->readers.shard().add(Count::kMatchReady, ready);
  return code;
}

int wait_call(kvc_space* space, const kvc_key* keys, std::size_t count, const WaitCall& call,
              std::uint8_t* states, std::size_t* ready) {
  if (states != nullptr) std::memset(states, KVC_MISSING, count);
  if (ready != nullptr) *ready = 0;
  if (space == nullptr || ready == nullptr || (keys == nullptr && count > 0)) {
    return report(Code::kInvalid, "kvc_wait, kvc_restore: space, keys and ready must not be NULL");
  }
  const Status alive = check_alive(*space->space);
  if (!alive.is_ok()) return report(alive);
  // Not wanted by the caller, but by the wait.
  std::vector<std::uint8_t> own(states == nullptr ? count : 0, KVC_MISSING);
  WaitCall absolute = call;
  absolute.deadline_ns = deadline_of(*space->space->core, call.deadline_ns, call.begin_ns);
  return wait(*space->space, as_keys(keys, count), absolute, states != nullptr ? states : own.data(), *ready);
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_wait(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                        uint8_t* states, size_t* ready) try {
  return client::wait_call(space, keys, count, {deadline_ns, client::now_ns(), false}, states, ready);
} catch (...) {
  return client::report_exception();
}

extern "C" int kvc_restore(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                           uint8_t* states, size_t* ready) try {
  return client::wait_call(space, keys, count, {deadline_ns, client::now_ns(), true}, states, ready);
} catch (...) {
  return client::report_exception();
}
