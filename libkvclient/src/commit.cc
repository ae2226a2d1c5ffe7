#include "libkvclient/src/options.h"
#include "libkvclient/src/reserve.h"

using namespace kvtier;

extern "C" int kvc_commit(kvc_space* space, kvc_slot* slots, size_t count, uint32_t flags,
                          uint64_t deadline_ns) try {
  if (space == nullptr || (slots == nullptr && count > 0)) {
    return client::report(Code::kInvalid, "kvc_commit: space and slots must not be NULL");
  }
  const Status known = client::check_flags("kvc_commit", flags, KVC_WAIT, "KVC_WAIT");
  if (!known.is_ok()) return client::report(known);
  const Status alive = client::check_alive(*space->space);
  if (!alive.is_ok()) return client::report(alive);
  client::Core& core = *space->space->core;
  const Status status = client::finish_slots(*space->space, Op::kCommit, {slots, count},
                                             (flags & KVC_WAIT) != 0, client::deadline_of(core, deadline_ns));
  return client::report_counted(core, status);
} catch (...) {
  return client::report_exception();
}
