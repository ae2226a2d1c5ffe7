#include "libkvclient/src/answer.h"
#include "libkvclient/src/handles.h"
#include "libkvclient/src/request_call.h"

namespace kvtier::client {
namespace {

int invalidate(Core& core, const Link& link, SpaceId space, std::uint64_t deadline_ns,
               std::uint64_t* blocks) {
  RequestCall call;
  call.submission.op = Op::kInvalidate;
  call.submission.space = space;
  call.submission.arena_offset = kNoArena;
  const Result<Completion> answer = request(core, *link.requests, call, deadline_of(core, deadline_ns));
  if (!answer.is_ok()) return report_counted(core, answer.status());
  if (blocks != nullptr) *blocks = answer.value().count;
  return report_counted(core, status_of(answer.value(), Op::kInvalidate));
}

}  // namespace
}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_invalidate(kvc_space* space, uint64_t deadline_ns, uint64_t* blocks) try {
  if (blocks != nullptr) *blocks = 0;
  if (space == nullptr) return client::report(Code::kInvalid, "kvc_invalidate: space must not be NULL");
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  client::Core& core = *space->space->core;
  const Result<client::BoundLink> bound = core.bound_link(*space->space);
  if (!bound.is_ok()) return client::report_counted(core, bound.status());
  return client::invalidate(core, bound.value().link, bound.value().binding.space, deadline_ns, blocks);
} catch (...) {
  return client::report_exception();
}

extern "C" int kvc_invalidate_namespace(kvc_client* client, uint64_t deadline_ns, uint64_t* blocks) try {
  if (blocks != nullptr) *blocks = 0;
  if (client == nullptr)
    return client::report(Code::kInvalid, "kvc_invalidate_namespace: client must not be NULL");
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  const std::shared_ptr<client::Core> core = client->core;  // a close meanwhile ends the call, and the handle
  const Result<client::Link> link = core->link();
  if (!link.is_ok()) return client::report_counted(*core, link.status());
  return client::invalidate(*core, link.value(), SpaceId::kNone, deadline_ns, blocks);
} catch (...) {
  return client::report_exception();
}
