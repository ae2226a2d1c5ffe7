#include "tools/traces/trace_file.h"

#include "tools/traces/line_file.h"
#include "tools/traces/trace_parser.h"

namespace kvtier::sim {

Result<Trace> read_trace(const std::string& path) {
  TraceParser parser;
  KV_RETURN_IF_ERROR(read_lines_of(path, [&](std::string_view line) { return parser.add_line(line); }));
  Trace trace = parser.take();
  if (trace.blocks.empty()) return Status(Code::kInvalid, path + " has no blocks");
  return trace;
}

}  // namespace kvtier::sim
