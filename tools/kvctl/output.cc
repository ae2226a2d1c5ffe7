#include "tools/kvctl/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tools/kvctl/exit_status.h"

namespace kvtier::ctl {
namespace {

// The error of a write in the middle is forgotten by now: one more byte meets the same one. 0: it does not.
int why_it_failed() {
  return ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;
}

}  // namespace

void finish_output() {
  const bool was_complete = std::ferror(stdout) == 0;
  const bool is_flushed = std::fflush(stdout) == 0;
  if (is_flushed && was_complete) return;
  const int error = is_flushed ? why_it_failed() : errno;
  if (error == EPIPE) return;
  const std::string why = error == 0 ? "" : std::string(": ") + std::strerror(error);
  throw Failure(kExitOutput, "output",
                "standard output cannot be written" + why + "; what it has is not all");
}

}  // namespace kvtier::ctl
