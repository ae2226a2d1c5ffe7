#pragma once
// Sleeping on a word of channel memory. Shared futexes: the waker is another process.

#include "libkvclient/base/clock.h"
#include "libkvclient/wire/channel.h"

namespace kvtier::client {

/// Returns when woken, when the word is not `expected`, at the deadline, or for no reason at all.
void futex_wait(const SharedU32& word, std::uint32_t expected, TimeNs deadline_ns);
void futex_wake_all(const SharedU32& word);

}  // namespace kvtier::client
