// Storage of leases and what can be asked of it.

#include "libkvclient/src/handles.h"

using namespace kvtier;

extern "C" {

int kvc_lease_create(kvc_client* client, size_t capacity, kvc_lease** lease) try {
  if (lease != nullptr) *lease = nullptr;
  if (client == nullptr || lease == nullptr) {
    return client::report(Code::kInvalid, "kvc_lease_create: client and lease must not be NULL");
  }
  const Status alive = client::check_alive(*client);
  if (!alive.is_ok()) return client::report(alive);
  auto made = std::make_unique<kvc_lease>();
  made->core = client->core;
  made->blocks.resize(capacity);
  made->pins.resize(capacity);
  *lease = made.release();
  return KVC_OK;
} catch (...) {
  return client::report_exception();
}

void kvc_lease_destroy(kvc_lease* lease) {
  // In a child of fork the handle is forgotten: what it refers to is the parent's.
  if (lease == nullptr || !lease->core->guard.is_same_process()) return;
  kvc_release(lease);
  delete lease;
}

size_t kvc_lease_count(const kvc_lease* lease) {
  return lease != nullptr ? lease->count : 0;
}

size_t kvc_lease_held(const kvc_lease* lease) {
  return lease != nullptr ? lease->held : 0;
}

const void* const* kvc_lease_blocks(const kvc_lease* lease) {
  return lease != nullptr ? lease->blocks.data() : nullptr;
}

size_t kvc_lease_block_bytes(const kvc_lease* lease) {
  return lease != nullptr ? lease->block_bytes : 0;
}

}  // extern "C"
