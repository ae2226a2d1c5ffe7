// kvc_wait: asks the daemon only when the directory says that something is pending. A slab's announcement travels on
// the socket, beside the directory that already shows the slab's blocks; they are waited for too, so that an acquire
// after it finds what it said is ready.

#include <algorithm>
#include <cstring>
#include <vector>

#include "libkvclient/src/handles.h"
#include "libkvclient/src/match.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {

namespace {

Status wait_for_pending(Space& space, std::span<const Key> keys, TimeNs deadline_ns) {
  const Result<BoundLink> bound = space.core->bound_link(space);
  if (!bound.is_ok()) return bound.status();
  Submission submission{};
  submission.op = Op::kWait;
  const Result<Completion> answer =
      request_with_keys(*space.core, bound.value(), submission, keys, deadline_ns);
  if (!answer.is_ok()) return answer.status();
  return status_of(answer.value(), "wait");
}

std::vector<Key> pending_of(std::span<const Key> keys, const std::vector<std::uint8_t>& states) {
  std::vector<Key> pending;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (states[i] == KVC_STATE_PENDING) pending.push_back(keys[i]);
  }
  return pending;
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

Status wait_for_slabs(const Space& space, std::span<const Key> keys, TimeNs deadline_ns) {
  for (keys = keys.subspan(settled_count(space, keys)); !keys.empty();
       keys = keys.subspan(settled_count(space, keys))) {
    const auto is_settled = [&] { return settled_count(space, keys.first(1)) == 1; };
    if (!space.core->wait_for_change(is_settled, deadline_ns)) {
      return {Code::kDeadline,
              "a block is ready in memory, or in a directory, that the daemon has not announced here yet"};
    }
  }
  return Status::ok();
}

int wait(Space& space, std::span<const Key> keys, TimeNs deadline_ns, std::uint8_t* states_out,
         std::size_t& ready) {
  std::vector<std::uint8_t> states(keys.size(), KVC_MISSING);
  int code = match(space, keys, states.data(), ready);
  const std::vector<Key> pending = pending_of(keys, states);
  if (!pending.empty() || settled_count(space, keys) < keys.size()) {
    Status waited = pending.empty() ? Status::ok() : wait_for_pending(space, pending, deadline_ns);
    if (waited.is_ok()) waited = wait_for_slabs(space, keys, deadline_ns);
    const int now = match(space, keys, states.data(), ready);
    code = waited.is_ok() ? now : report_counted(*space.core, waited);
  }
  if (states_out != nullptr) std::copy(states.begin(), states.end(), states_out);
  return code;
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_wait(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                        uint8_t* states, size_t* ready) try {
  if (states != nullptr) std::memset(states, KVC_MISSING, count);
  if (ready != nullptr) *ready = 0;
  if (space == nullptr || ready == nullptr || (keys == nullptr && count > 0)) {
    return client::report(Code::kInvalid, "kvc_wait: space, keys and ready must not be NULL");
  }
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  return client::wait(*space->space, client::as_keys(keys, count),
                      client::deadline_of(*space->space->core, deadline_ns), states, *ready);
} catch (...) {
  return client::report_exception();
}
