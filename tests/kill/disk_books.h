#pragma once
// What a run of the disk bar found, and how large the files of the tier were.

#include <map>
#include <string>
#include <vector>

#include "tests/kill/daemon_host.h"
#include "tests/kill/disk_writer.h"

namespace kvtier::kill {

struct DiskBooks {
  std::uint64_t kills = 0;
  std::uint64_t errors =
      0;  ///< daemons that do not start or end, writers that are not served, unexplained codes
  std::uint64_t over_bound = 0;                 ///< looks at a path's file that was larger than configured
  std::uint64_t file_bytes_max = 0;             ///< of one path: size, or what its blocks take
  std::uint64_t beside_bytes_max = 0;           ///< of one path: what lies beside that file
  std::uint64_t clean_ends = 0;                 ///< a daemon that was told to end did so before the kill came
  TimeNs up_max_ns = 0;                         ///< from the start until it answers
  std::map<std::string, std::uint64_t> phases;  ///< kills in each
  DiskWriterFigures writers;
  std::map<std::string, std::uint64_t> counters;  ///< of all daemons, as they were seen last
  std::string notes;

  void fail(const std::string& why);
  void add(const DiskWriterFigures& figures);
  void add(const CounterValues& now, bool is_strict);
  /// Looks at the files of a path with `bound` bytes.
  void measure(const std::string& folder, std::uint64_t bound);
  /// Prints one line of JSON; the exit status.
  [[nodiscard]] int finish() const;
};

}  // namespace kvtier::kill
