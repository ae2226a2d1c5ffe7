#pragma once
// A trace of requests as kvsim replays it: which blocks the prompt of each has, first to last.

#include <cstdint>
#include <span>
#include <vector>

namespace kvtier::sim {

/// A block of a trace: its numbers are dense, in order of first use.
using BlockNumber = std::uint32_t;

/// Why a request's answer ended.
enum class Stop : std::uint8_t {
  kUnknown,
  kToolUse,
  kEndTurn,
  kEndSession,  ///< and no other of its session came after it
};

struct Request {
  std::uint64_t time_ms = 0;
  std::uint64_t answer_ms = 0;  ///< until its answer was complete
  std::uint64_t first = 0;      ///< place of its first block in Trace::blocks
  std::uint32_t count = 0;
  std::uint32_t session = 0;  ///< numbers from 1 on; 0: not known
  Stop stop = Stop::kUnknown;
};

struct Trace {
  std::vector<Request> requests;
  std::vector<BlockNumber> blocks;  ///< of all requests, one behind the other
  std::uint32_t unique = 0;         ///< different blocks
  std::uint32_t sessions = 0;

  [[nodiscard]] std::span<const BlockNumber> blocks_of(const Request& request) const {
    return std::span(blocks).subspan(request.first, request.count);
  }
};

/// The first `requests` of it; 0: all.
void cut(Trace& trace, std::uint64_t requests);
/// The requests come so often, whatever their times were.
void pace(Trace& trace, double interval_ms);

}  // namespace kvtier::sim
