#pragma once
// `kvsim longcontext`: results as JSON, and as a table.

#include <string>

#include "tools/kvsim/longcontext.h"

namespace kvtier::sim {

/// One JSON object.
std::string to_json(const LongContextResult& result, const LongContextOptions& options);
/// Assumptions that hold for all rows.
std::string assumptions(const LongContextOptions& options);
std::string table_head();
std::string table_line(const LongContextResult& result);

/// Everything, to standard output. False when that cannot be written.
bool run_long_context(const LongContextOptions& options);

}  // namespace kvtier::sim
