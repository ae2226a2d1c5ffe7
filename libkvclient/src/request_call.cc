#include "libkvclient/src/request_call.h"

#include <algorithm>
#include <cstring>

#include "kvclient/kvclient.h"
#include "libkvclient/base/fault_point.h"

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

Result<Completion> request_with_keys(Core& core, const BoundLink& bound, Submission submission,
                                     std::span<const Key> keys, TimeNs deadline_ns) {
  Completion total{};
  while (!keys.empty()) {
    const std::span<const Key> part = keys.first(std::min<std::size_t>(keys.size(), kRequestKeysMax));
    keys = keys.subspan(part.size());
    RequestCall call;
    call.submission = submission;
    call.submission.count = static_cast<std::uint32_t>(part.size());
    call.submission.space = bound.binding.space;
    call.submission.deadline_ns = deadline_ns == kNever ? 0 : deadline_ns;
    call.arena_bytes = part.size_bytes();
    call.fill = [part](std::byte* arena) { std::memcpy(arena, part.data(), part.size_bytes()); };
    Result<Completion> answer = request(core, *bound.link.requests, call, deadline_ns);
    if (!answer.is_ok()) return answer;
    const std::uint32_t count_before = total.count;
    total = answer.value();
    total.count += count_before;
    if (total.code != Code::kOk) return total;
  }
  return total;
}

Status status_of(const Completion& answer, const char* what) {
  if (answer.code == Code::kOk) return Status::ok();
  std::string text = std::string(what) + ": the daemon answers " + std::string(code_name(answer.code));
  if (answer.cause != Cause::kNone)
    text += ", " + std::string(kvc_cause_name(static_cast<int>(answer.cause)));
  return {answer.code, text};
}

}  // namespace kvtier::client
