#include "libkvclient/src/patience.h"

#include <algorithm>

#include "kvclient/kvclient.h"
#include "libkvclient/src/deadline.h"

namespace kvtier::client {
namespace {

// Short for a person, long for a machine: the check may have to wait for an interpreter's lock.
constexpr TimeNs kLookEvery = 50 * kNsPerMs;

struct Interrupt {
  int (*check)(void*) = nullptr;
  void* context = nullptr;
  bool has_fired = false;  ///< then every further wait of the call is over at once
};

Interrupt& interrupt() {
  thread_local Interrupt instance;
  return instance;
}

TimeNs first_look_ns(const Interrupt& interrupt) {
  if (interrupt.check == nullptr) return kNever;
  return interrupt.has_fired ? 0 : now_ns() + kLookEvery;
}

}  // namespace

Patience::Patience(TimeNs deadline_ns)
    : deadline_ns_(deadline_ns), next_look_ns_(first_look_ns(interrupt())) {}

TimeNs Patience::sleep_until() const {
  return std::min(deadline_ns_, next_look_ns_);
}

bool Patience::is_over() {
  const TimeNs now = now_ns();
  if (now >= deadline_ns_) return true;
  if (now < next_look_ns_) return false;
  next_look_ns_ = now + kLookEvery;
  Interrupt& mine = interrupt();
  mine.has_fired = mine.has_fired || mine.check(mine.context) != 0;
  return mine.has_fired;
}

}  // namespace kvtier::client

extern "C" void kvc_set_interrupt(int (*check)(void* context), void* context) {
  kvtier::client::interrupt() = {check, context, false};
}
