// kvc_wait: asks the daemon only when the directory says that something is pending.

#include <algorithm>
#include <cstring>
#include <vector>

#include "libkvclient/src/handles.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {

int match(Space& space, std::span<const Key> keys, std::uint8_t* states, std::size_t& ready);

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

int wait(Space& space, std::span<const Key> keys, TimeNs deadline_ns, std::uint8_t* states_out,
         std::size_t& ready) {
  std::vector<std::uint8_t> states(keys.size(), KVC_MISSING);
  int code = match(space, keys, states.data(), ready);
  const std::vector<Key> pending = pending_of(keys, states);
  if (code == KVC_OK && !pending.empty()) {
    const Status waited = wait_for_pending(space, pending, deadline_ns);
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
