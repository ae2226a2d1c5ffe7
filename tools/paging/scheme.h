#pragma once
// How running requests get memory for the tokens that they hold.

#include <cstdint>
#include <string_view>

#include "tools/traces/length_trace.h"

namespace kvtier::sim {

struct RunningRequest {
  std::size_t number = 0;  ///< in the trace
  LengthRequest lengths;
  std::uint32_t produced = 0;

  [[nodiscard]] std::uint64_t held() const { return std::uint64_t{lengths.prompt} + produced; }
  [[nodiscard]] bool is_done() const { return produced == lengths.output; }
};

/// Sizes are in places for tokens. What a request has is its own.
class Scheme {
 public:
  Scheme() = default;
  Scheme(const Scheme&) = delete;
  Scheme& operator=(const Scheme&) = delete;
  virtual ~Scheme() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  /// What admit takes.
  [[nodiscard]] virtual std::uint64_t needed(const LengthRequest& lengths) const = 0;
  /// Room for the prompt, and for all that the scheme gives ahead; or nothing.
  virtual bool admit(const RunningRequest& request) = 0;
  /// Room for one token more than the request holds. False: there is none, and nothing has changed.
  virtual bool grow(const RunningRequest& request) = 0;
  /// Gives its room back until resume, which gives it all of it again or nothing.
  virtual void preempt(const RunningRequest& request) = 0;
  virtual bool resume(const RunningRequest& request) = 0;
  virtual void finish(const RunningRequest& request) = 0;

  [[nodiscard]] virtual std::uint64_t allocated(const RunningRequest& request) const = 0;
  /// To all requests, as the memory itself counts.
  [[nodiscard]] virtual std::uint64_t allocated_total() const = 0;
  [[nodiscard]] virtual std::uint64_t pool_tokens() const = 0;
  /// Tokens that resume had computed again.
  [[nodiscard]] virtual std::uint64_t recomputed_tokens() const { return 0; }
};

}  // namespace kvtier::sim
