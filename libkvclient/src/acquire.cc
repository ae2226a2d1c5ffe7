// kvc_acquire and kvc_release. The daemon is not involved, but for KVC_VERIFY (verify.h).

#include <utility>

#include "libkvclient/src/acquire_run.h"
#include "libkvclient/src/verify.h"

namespace kvtier::client {
namespace {

constexpr std::uint32_t kAcquireFlags = KVC_UNORDERED | KVC_ALL_OR_NOTHING | KVC_VERIFY;

void reset(kvc_lease& lease) {
  lease.count = 0;
  lease.held = 0;
  lease.session = nullptr;
}

// The entries stay: each says that it is not held.
void hold_nothing(kvc_lease& lease) {
  std::fill_n(lease.blocks.begin(), lease.count, nullptr);
  std::fill_n(lease.pins.begin(), lease.count, nullptr);
  lease.held = 0;
}

// Only a longer call than all before allocates.
void make_room(kvc_lease& lease, std::size_t count) {
  if (lease.blocks.size() >= count) return;
  lease.pins.resize(count);  // first: the length of blocks stands for both, also when one of the two throws
  lease.blocks.resize(count);
}

void release_pins(const kvc_lease& lease) {
  for (std::size_t i = 0; i < lease.count; ++i) {
    if (lease.pins[i] != nullptr) Pins::release(*lease.pins[i]);
  }
}

void lease_from(const View& view, Space& space, Binding binding, std::span<const Key> keys,
                std::uint32_t flags, std::uint64_t request_id, kvc_lease& lease) {
  reset(lease);  // one that holds nothing may have entries
  const AcquireOptions options{(flags & KVC_UNORDERED) != 0, request_id};
  AcquireRun(view, binding, space.block_bytes, keys, options, lease).run();
  const bool is_short = (flags & KVC_ALL_OR_NOTHING) != 0 && lease.held < keys.size();
  if (is_short) {
    release_pins(lease);
    hold_nothing(lease);
  }
  if (lease.held == 0) {
    if ((flags & KVC_UNORDERED) == 0) lease.count = 0;
    return;
  }
  // relaxed: inside the read section, which ends after it; nothing is unmapped before that (service.cc).
  view.session->users.fetch_add(1, std::memory_order_relaxed);
  lease.session = view.session;
  lease.block_bytes = space.block_bytes;
}

// The session may go, as far as this lease is concerned.
void leave_session(kvc_lease& lease) {
  // release: the reads of the blocks are before the count that lets the service thread unmap them.
  std::exchange(lease.session, nullptr)->users.fetch_sub(1, std::memory_order_release);
  lease.core->readers.shard().add(Count::kLeasesEnded, 1);
}

int verified(Space& space, const AcquireCall& call, kvc_lease& lease) {
  Status status;
  try {
    status = verify(space, call, lease);
  } catch (...) {
    release(lease);
    throw;
  }
  space.core->readers.shard().add(Count::kAcquireLeased, lease.held);
  return status.is_ok() ? KVC_OK : report_counted(*space.core, status);
}

}  // namespace

void let_go(kvc_lease& lease, std::size_t first, std::size_t count) {
  for (std::size_t i = first; i < first + count; ++i) {
    if (lease.pins[i] == nullptr) continue;
    Pins::release(*lease.pins[i]);
    lease.pins[i] = nullptr;
    lease.blocks[i] = nullptr;
    --lease.held;
  }
  if (lease.held == 0 && lease.session != nullptr) leave_session(lease);
}

int acquire(Space& space, const AcquireCall& call, std::uint64_t request_id, kvc_lease& lease) {
  Core& core = *space.core;
  const std::span<const Key> keys = call.keys;
  if (!core.guard.is_same_process()) return report_forked();
  if (core.is_closed.load(std::memory_order_relaxed)) return report_closed();
  make_room(lease, keys.size());
  const bool verifies = (call.flags & KVC_VERIFY) != 0 || core.options.verifies;
  {
    const ReadSection section(core.readers, core.view);
    section.shard().add(Count::kAcquireCalls, 1);
    const View* view = section.view();
    const Binding binding = Binding::unpack(space.binding.load(std::memory_order_acquire));
    if (view == nullptr || !binding.is_of(view->epoch)) {
      section.shard().add(Count::kUnavailable, 1);
      return report(Code::kUnavailable, "not connected to the daemon; kvc_status says why");
    }
    lease_from(*view, space, binding, keys, call.flags, request_id, lease);
    (void)KV_FAULT("client.acquire.leased");
    section.shard().add(Count::kAcquireKeys, keys.size());
    if (lease.held > 0) section.shard().add(Count::kLeasesBegun, 1);
    if (!verifies) section.shard().add(Count::kAcquireLeased, lease.held);
  }
  return verifies ? verified(space, call, lease) : KVC_OK;
}

void release(kvc_lease& lease) {
  if (lease.session == nullptr) return reset(lease);
  if (!lease.core->guard.is_same_process()) return;
  (void)KV_FAULT("client.release.before");
  release_pins(lease);
  (void)KV_FAULT("client.release.unpinned");
  leave_session(lease);
  reset(lease);
}

}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_acquire(kvc_space* space, const kvc_key* keys, size_t count, uint32_t flags,
                           uint64_t request_id, kvc_lease* lease) try {
  if (space == nullptr || lease == nullptr || (keys == nullptr && count > 0)) {
    return client::report(Code::kInvalid, "kvc_acquire: space, keys and lease must not be NULL");
  }
  if ((flags & ~client::kAcquireFlags) != 0) {
    return client::report(Code::kInvalid,
                          "kvc_acquire: flags other than KVC_UNORDERED, KVC_ALL_OR_NOTHING, KVC_VERIFY");
  }
  if (lease->core != space->space->core) {
    return client::report(Code::kInvalid, "kvc_acquire: the lease is of another client than the space");
  }
  if (lease->session != nullptr && lease->core->guard.is_same_process())
    return client::report(Code::kBusy, "kvc_acquire: the lease holds blocks; release it");
  return client::acquire(*space->space, {client::as_keys(keys, count), flags}, request_id, *lease);
} catch (...) {
  return client::report_exception();
}

extern "C" void kvc_release(kvc_lease* lease) {
  if (lease != nullptr) client::release(*lease);
}
