#include "libkvclient/src/answer.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {
namespace {

int pin_or_unpin(kvc_space* handle, const kvc_key* keys, std::size_t count, Submission submission,
                 std::uint64_t deadline_ns, std::size_t* pinned) {
  if (pinned != nullptr) *pinned = 0;
  if (handle == nullptr || (keys == nullptr && count > 0)) {
    return report(Code::kInvalid, "kvc_pin, kvc_unpin: space and keys must not be NULL");
  }
  Space& space = *handle->space;
  const Status alive = check_alive(space);
  if (!alive.is_ok()) return report(alive);
  const Result<BoundLink> bound = space.core->bound_link(space);
  if (!bound.is_ok()) return report_counted(*space.core, bound.status());
  Completion total;
  const Status asked = request_with_keys(*space.core, bound.value(), submission, as_keys(keys, count),
                                         deadline_of(*space.core, deadline_ns), total);
  if (pinned != nullptr) *pinned = total.count;
  return report_counted(*space.core, asked.is_ok() ? status_of(total, submission.op) : asked);
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_pin(kvc_space* space, const kvc_key* keys, size_t count, uint64_t ttl_ns,
                       uint64_t deadline_ns, size_t* pinned) try {
  if (ttl_ns == 0 || ttl_ns > kPinTtlNsMax) {
    if (pinned != nullptr) *pinned = 0;
    return client::report(Code::kInvalid, "kvc_pin: ttl_ns must be 1 ns to 24 h");
  }
  Submission submission{};
  submission.op = Op::kPin;
  submission.args[0] = ttl_ns;
  return client::pin_or_unpin(space, keys, count, submission, deadline_ns, pinned);
} catch (...) {
  return client::report_exception();
}

extern "C" int kvc_unpin(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns) try {
  Submission submission{};
  submission.op = Op::kUnpin;
  return client::pin_or_unpin(space, keys, count, submission, deadline_ns, nullptr);
} catch (...) {
  return client::report_exception();
}
