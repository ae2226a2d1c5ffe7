#include <algorithm>
#include <cstring>

#include "libkvclient/src/answer.h"
#include "libkvclient/src/deadline.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/request_call.h"
#include "libkvclient/wire/limits.h"

namespace kvtier::client {
namespace {

/// What was asked for, and how it ended.
struct Asked {
  std::uint64_t durable = 0;
  std::uint64_t unsaved = 0;
  Status status;  ///< the first that is not ok
};

void add(Asked& total, const Result<Completion>& answer, std::size_t keys) {
  Status status = answer.status();
  if (answer.is_ok()) {
    status = status_of(answer.value(), Op::kSync);
    total.durable += answer.value().count;
    total.unsaved += answer.value().value;
  } else {
    total.unsaved += keys;
  }
  if (total.status.is_ok()) total.status = std::move(status);
}

// All keys are asked for, whatever became of those before; but not of a daemon that is gone or does not answer.
void ask(Core& core, const BoundLink& bound, std::span<const Key> keys, TimeNs deadline_ns, Asked& total) {
  std::size_t at = 0;
  do {
    const std::span<const Key> some =
        keys.subspan(at, std::min<std::size_t>(kRequestKeysMax, keys.size() - at));
    RequestCall call;
    call.submission.op = Op::kSync;
    call.submission.space = bound.binding.space;
    call.submission.count = static_cast<std::uint32_t>(some.size());
    call.submission.deadline_ns = deadline_before(deadline_ns);
    call.submission.arena_offset = kNoArena;
    call.arena_bytes = some.size_bytes();
    if (!some.empty())
      call.fill = [some](std::byte* arena) { std::memcpy(arena, some.data(), some.size_bytes()); };
    const Result<Completion> answer = request(core, *bound.link.requests, call, deadline_ns);
    add(total, answer, some.size());
    at += some.size();
    if (answer.is_ok()) continue;
    total.unsaved += keys.size() - at;
    return;
  } while (at < keys.size());
}

Status sync(Space& space, std::span<const Key> keys, std::uint64_t deadline_ns, Asked& total) {
  const Result<BoundLink> bound = space.core->bound_link(space);
  if (!bound.is_ok()) return bound.status();
  if (!bound.value().link.has_sync) {
    return {Code::kUnsupported,
            "kvc_sync: this daemon speaks a protocol before 1.3 and does not say when blocks are on disk; "
            "restart it with a release that does"};
  }
  ask(*space.core, bound.value(), keys, deadline_of(*space.core, deadline_ns), total);
  return total.status;
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_sync(kvc_space* space, const kvc_key* keys, size_t count, uint64_t deadline_ns,
                        uint64_t* durable, uint64_t* unsaved) try {
  if (durable != nullptr) *durable = 0;
  if (unsaved != nullptr) *unsaved = 0;
  if (space == nullptr || (keys == nullptr) != (count == 0))
    return client::report(
        Code::kInvalid,
        "kvc_sync: space must not be NULL; keys is NULL with count 0, for all of the space, "
        "and only then");
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  client::Asked total;
  const Status status = client::sync(*space->space, client::as_keys(keys, count), deadline_ns, total);
  if (durable != nullptr) *durable = total.durable;
  if (unsaved != nullptr) *unsaved = total.unsaved;
  return client::report_counted(*space->space->core, status);
} catch (...) {
  return client::report_exception();
}
