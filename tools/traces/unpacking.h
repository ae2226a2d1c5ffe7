#pragma once
// `zstd -dc FILE` as a child: no library for the sake of a tool.

#include <sys/types.h>

#include <string>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier::sim {

class Unpacking {
 public:
  /// kUnsupported when there is no program of that name in $PATH.
  static Result<Unpacking> start(const std::string& path);
  Unpacking(Unpacking&& other) noexcept;
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  /// Waits for it; one that was not read to its end ends by the closed pipe.
  ~Unpacking();

  [[nodiscard]] int output() const { return output_.get(); }
  /// Closes the pipe and waits. kInvalid when the child says that the file is no good; an end by the closed pipe is ours.
  Status finish();

 private:
  Unpacking(UniqueFd output, pid_t pid) : output_(std::move(output)), pid_(pid) {}

  UniqueFd output_;
  pid_t pid_ = -1;
};

}  // namespace kvtier::sim
