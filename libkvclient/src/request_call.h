#pragma once
// One request with its answer: the way of every verb that asks the daemon.

#include <functional>
#include <span>

#include "libkvclient/src/core.h"

namespace kvtier::client {

struct RequestCall {
  Submission submission{};  ///< id and arena offset are filled in
  std::uint64_t arena_bytes = 0;
  /// Writes the arena range before it is sent.
  std::function<void(std::byte* arena)> fill;
  /// Called when it is sure that the record goes out, unless the session breaks, and before it does. May be empty.
  std::function<void()> before_send;
  /// Reads it after the answer. May be empty.
  std::function<Status(const std::byte* arena, const Completion& answer)> read;
};

/// Sends, waits, reads. What the daemon answered is in the Completion's code; a failure is ours: kDeadline,
/// kUnavailable.
Result<Completion> request(Core& core, Requests& requests, const RequestCall& call, TimeNs deadline_ns);

/// The same for an arena that holds nothing but keys; splits at kRequestKeysMax. `total` is the last answer, which is the
/// first that is not kOk, with the counts of all summed; on a failure of ours that of the answers before.
Status request_with_keys(Core& core, const BoundLink& bound, Submission submission, std::span<const Key> keys,
                         TimeNs deadline_ns, Completion& total);

}  // namespace kvtier::client
