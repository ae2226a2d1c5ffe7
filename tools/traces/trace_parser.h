#pragma once
// Lines of a trace: JSON objects with `hash_ids`, and `timestamp` in milliseconds (Mooncake; the merged files of
// kv-cache-tester); without it a request comes a second after the other. `session`, `stop` and `api_ms` too, where they are; the
// last request of a session ends it. Other members are passed over.

#include <string_view>
#include <unordered_map>

#include "libkvclient/base/status.h"
#include "tools/traces/trace.h"

namespace kvtier::sim {

class TraceParser {
 public:
  /// kInvalid: the line is no such object; what was added of it is to be thrown away with the trace.
  Status add_line(std::string_view line);
  /// Nothing of it stays here.
  Trace take();

 private:
  class Handler;

  BlockNumber number_of(std::uint64_t hash_id);
  std::uint32_t session_of(const std::string& name);

  Trace trace_;
  std::vector<BlockNumber> small_ids_;  // number + 1 by hash id; 0: not seen
  std::unordered_map<std::uint64_t, BlockNumber> large_ids_;
  std::unordered_map<std::string, std::uint32_t> sessions_;
};

}  // namespace kvtier::sim
