#pragma once
// The closed set of outcomes. A bug stops the process (check.h); a thing that can happen returns a Status.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace kvtier {

/// Outcome of a call. The numbers are wire and C-ABI values: append, never renumber.
enum class Code : std::uint8_t {
  kOk = 0,
  kInvalid = 1,   ///< the caller's arguments or bytes are wrong; the message names the field. Do not retry.
  kNotFound = 2,  ///< no such key, space, namespace or client. A miss.
  kExists = 3,    ///< the block is there already; use it instead of computing it.
  kPending = 4,   ///< another client computes it: wait for it.
  kNoSpace = 5,   ///< memory is short; the cause says who holds it. Retry later or go on without the cache.
  kDenied = 6,    ///< the peer may not do this.
  kUnavailable = 7,   ///< the daemon is away; treat as a miss, the library reconnects by itself.
  kDeadline = 8,      ///< the deadline passed; what was ready is reported.
  kStale = 9,         ///< the handle belongs to an earlier generation, session or fork; drop it.
  kVersion = 10,      ///< the two sides do not speak a common protocol version; the message has both.
  kCorrupt = 11,      ///< bytes failed their checksum or layout check; treated as a miss and counted.
  kBusy = 12,         ///< a bounded queue is full or the object is in use; retry.
  kUnsupported = 13,  ///< this kernel, device or build cannot do it.
  kSystem = 14,       ///< the operating system refused; the message has the call and errno.
};

inline constexpr std::uint8_t kCodeCount = 15;

/// The one word for a code, the same in logs, counters, kvctl and documents.
std::string_view code_name(Code code);

/// A code and, when it is not ok, a message with cause and fix.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok() { return {}; }
  /// kSystem with the failed call and the text of errno.
  static Status from_errno(std::string_view call, int error_number);

  [[nodiscard]] bool is_ok() const { return code_ == Code::kOk; }
  [[nodiscard]] Code code() const { return code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

  /// The same failure with what the forwarding level was doing put in front.
  [[nodiscard]] Status while_doing(std::string_view action) const;
  /// "no_space: message"
  [[nodiscard]] std::string to_string() const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

}  // namespace kvtier
