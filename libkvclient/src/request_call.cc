#include "libkvclient/src/request_call.h"

#include <algorithm>
#include <cstring>

#include "libkvclient/base/fault_point.h"
#include "libkvclient/src/pace.h"

namespace kvtier::client {

namespace {

Result<Completion> exchange(Requests& requests, const RequestCall& call, TimeNs deadline_ns) {
  const Result<std::uint32_t> id = requests.open(call.submission.op, call.arena_bytes, deadline_ns);
  if (!id.is_ok()) return id.status();
  const RequestScope scope(requests, id.value());
  if (call.fill) call.fill(requests.arena_of(id.value()));
  (void)KV_FAULT("client.request.before_send");
  KV_RETURN_IF_ERROR(requests.take_place(deadline_ns));
  if (call.before_send) call.before_send();
  KV_RETURN_IF_ERROR(requests.send(id.value(), call.submission));
  (void)KV_FAULT("client.request.sent");
  Result<Completion> answer = requests.await(id.value(), deadline_ns);
  if (!answer.is_ok()) return answer;
  if (call.read) KV_RETURN_IF_ERROR(call.read(requests.arena_of(id.value()), answer.value()));
  return answer;
}

}  // namespace

Result<Completion> request(Core& core, Requests& requests, const RequestCall& call, TimeNs deadline_ns) {
  Result<Completion> answer = exchange(requests, call, deadline_ns);
  // Only now is the request in the table as late: the service thread will find it, and take in its answer.
  if (answer.code() == Code::kDeadline) core.wake_service();
  if (!answer.is_ok()) return core.or_closed(answer.status());
  return answer;
}

Status request_with_keys(Core& core, const BoundLink& bound, Submission submission, std::span<const Key> keys,
                         TimeNs deadline_ns, Completion& total) {
  total = {};
  Pace pace(deadline_ns);
  while (!keys.empty() && total.code == Code::kOk) {
    if (pace.is_over()) return {Code::kDeadline, "the deadline passed before all keys were sent"};
    const std::span<const Key> part = keys.first(std::min<std::size_t>(keys.size(), kRequestKeysMax));
    keys = keys.subspan(part.size());
    pace.add(part.size());
    RequestCall call;
    call.submission = submission;
    call.submission.count = static_cast<std::uint32_t>(part.size());
    call.submission.space = bound.binding.space;
    call.submission.deadline_ns = deadline_ns == kNever ? 0 : deadline_ns;
    call.arena_bytes = part.size_bytes();
    call.fill = [part](std::byte* arena) { std::memcpy(arena, part.data(), part.size_bytes()); };
    const Result<Completion> answer = request(core, *bound.link.requests, call, deadline_ns);
    if (!answer.is_ok()) return answer.status();
    const std::uint32_t count_before = total.count;
    total = answer.value();
    total.count += count_before;
  }
  return Status::ok();
}

}  // namespace kvtier::client
