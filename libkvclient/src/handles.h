#pragma once
// What the opaque types of the C contract are, and the checks that every call begins with.

#include <memory>
#include <span>
#include <vector>

#include "kvclient/kvclient.h"
#include "libkvclient/src/core.h"
#include "libkvclient/src/deadline.h"
#include "libkvclient/src/last_error.h"

struct kvc_client {
  std::shared_ptr<kvtier::client::Core> core;
};

struct kvc_spec {
  kvtier::Spec spec;
};

struct kvc_space {
  std::shared_ptr<kvtier::client::Space> space;
};

/// Storage of leases. Pointers into the session's memory, which its count of users keeps mapped.
struct kvc_lease {
  std::shared_ptr<kvtier::client::Core> core;
  kvtier::client::Session* session = nullptr;  ///< null: empty
  std::vector<const void*> blocks;
  std::vector<kvtier::PinCell*> pins;
  std::size_t count = 0;
  std::size_t held = 0;
  std::size_t block_bytes = 0;
};

static_assert(sizeof(kvc_key) == sizeof(kvtier::Key));
static_assert(alignof(kvc_key) == alignof(kvtier::Key));

namespace kvtier::client {

inline std::span<const Key> as_keys(const kvc_key* keys, std::size_t count) {
  return {reinterpret_cast<const Key*>(keys), count};
}

/// kStale in a child of fork. Core::link() finds that the client was closed, in the calls that need the daemon.
template <class Owner>
Status check_alive(const Owner& owner) {
  if (!owner.core->guard.is_same_process()) {
    return {Code::kStale, "opened before fork; open a new client in this process"};
  }
  return Status::ok();
}

inline TimeNs deadline_of(const Core& core, std::uint64_t relative_ns) {
  return deadline_from_now(relative_ns, core.options.deadline_ns);
}

inline TimeNs deadline_of(const Core& core, std::uint64_t relative_ns, TimeNs begin_ns) {
  return deadline_after(begin_ns, relative_ns, core.options.deadline_ns);
}

/// kvc_release.
void release(kvc_lease& lease);
/// Ends the lease of so many of its entries, which stay as entries that are not held.
void let_go(kvc_lease& lease, std::size_t first, std::size_t count);

/// Counts what callers want to see in kvc_stats, then reports.
int report_counted(Core& core, const Status& status);

}  // namespace kvtier::client
