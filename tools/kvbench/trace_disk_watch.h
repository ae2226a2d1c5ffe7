#pragma once
// What the file system gives to the folder of a tier, while a trace is replayed.

#include <string>
#include <thread>

#include "tools/kvbench/trace.h"

namespace kvtier::bench {

/// Looks every 10 ms from a thread of its own, and once more at its end.
class DiskWatch {
 public:
  DiskWatch(std::string folder, TraceBoard& board);

 private:
  void run(const std::stop_token& stop);
  void look();

  const std::string folder_;
  TraceBoard& board_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace kvtier::bench
