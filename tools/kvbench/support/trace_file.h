#pragma once
// A trace of requests: JSON lines, each with `hash_ids`, the block hashes of a prompt in order. Equal ids mean equal
// whole prefixes.

#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace kvtier::bench {

class TraceFile {
 public:
  /// "-" is standard input; what ends in .zst is unpacked by a zstd child. Throws with what is missing. Not beside
  /// threads: it forks.
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  /// A child that has more to tell is ended.
  ~TraceFile();

  /// False at the end. Throws with the line's number where a line is no request. One thread at a time.
  [[nodiscard]] bool next(std::vector<std::uint64_t>& hash_ids);

 private:
  void open_unpacked();
  void end_child();

  const std::string path_;
  std::FILE* file_ = nullptr;
  pid_t child_ = -1;
  char* line_ = nullptr;  ///< getline's
  std::size_t capacity_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace kvtier::bench
