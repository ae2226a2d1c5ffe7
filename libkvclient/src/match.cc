// kvc_match: the directory, read in place. No lease, no message, no lock; not a use for the eviction order.

#include "libkvclient/src/match.h"

#include <cstring>

#include "libkvclient/src/handles.h"

namespace kvtier::client {
namespace {

std::uint8_t state_of(bool is_found, const Residency& at) {
  if (!is_found) return KVC_MISSING;
  // First: the daemon publishes the slot that a pending block is written to.
  if (at.is_pending()) return KVC_STATE_PENDING;
  if (at.host.is_present()) return KVC_READY;
  return at.is_on_disk() ? KVC_STATE_ON_DISK : KVC_MISSING;
}

std::size_t match_all(const DirectoryReader& directory, SpaceId space, std::span<const Key> keys,
                      std::uint8_t* states) {
  directory.find_chunks(
      space, keys,
      [&](std::size_t i, bool is_found, const Residency& at) {
        states[i] = state_of(is_found, at);
        return true;
      },
      [](std::size_t, std::size_t) {}, &last_match);
  std::size_t ready = 0;
  while (ready < keys.size() && states[ready] == KVC_READY) ++ready;
  return ready;
}

std::size_t match_prefix(const DirectoryReader& directory, SpaceId space, std::span<const Key> keys) {
  std::size_t ready = 0;
  directory.find_chunks(
      space, keys,
      [&](std::size_t, bool is_found, const Residency& at) {
        const bool is_ready = state_of(is_found, at) == KVC_READY;
        ready += is_ready ? 1 : 0;
        return is_ready;
      },
      [](std::size_t, std::size_t) {}, &last_match);
  return ready;
}

}  // namespace

bool find_states(const Space& space, std::span<const Key> keys, std::uint8_t* states) {
  const ReadSection section(space.core->readers, space.core->view);
  const View* view = section.view();
  const Binding binding = Binding::unpack(space.binding.load(std::memory_order_acquire));
  if (view == nullptr || !binding.is_of(view->epoch)) return false;
  (void)match_all(view->directory, binding.space, keys, states);
  return true;
}

int match(Space& space, std::span<const Key> keys, std::uint8_t* states, std::size_t& ready) {
  Core& core = *space.core;
  if (!core.guard.is_same_process()) return report_forked();
  if (core.is_closed.load(std::memory_order_relaxed)) return report_closed();
  const ReadSection section(core.readers, core.view);
  section.shard().add(Count::kMatchCalls, 1);
  const View* view = section.view();
  const Binding binding = Binding::unpack(space.binding.load(std::memory_order_acquire));
  if (view == nullptr || !binding.is_of(view->epoch)) {
    section.shard().add(Count::kUnavailable, 1);
    return report(Code::kUnavailable, "not connected to the daemon; kvc_status says why");
  }
  ready = states != nullptr ? match_all(view->directory, binding.space, keys, states)
                            : match_prefix(view->directory, binding.space, keys);
  section.shard().add(Count::kMatchKeys, keys.size());
  section.shard().add(Count::kMatchReady, ready);
  return KVC_OK;
}

}  // namespace kvtier::client

using namespace kvtier;

extern "C" int kvc_match(kvc_space* space, const kvc_key* keys, size_t count, uint8_t* states,
                         size_t* ready) try {
  std::size_t leading = 0;
  if (states != nullptr) std::memset(states, KVC_MISSING, count);
  if (ready != nullptr) *ready = 0;
  if (space == nullptr || ready == nullptr || (keys == nullptr && count > 0)) {
    return client::report(Code::kInvalid, "kvc_match: space, keys and ready must not be NULL");
  }
  const int code = client::match(*space->space, client::as_keys(keys, count), states, leading);
  *ready = leading;
  return code;
} catch (...) {
  return client::report_exception();
}
