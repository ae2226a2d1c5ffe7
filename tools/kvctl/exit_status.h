#pragma once
// Exit statuses, for scripts. --help lists them.

#include <stdexcept>
#include <string>

namespace kvtier::ctl {

enum ExitStatus : int {
  kExitOk = 0,
  kExitDegraded = 1,  ///< status: degraded; stat: the conductor hangs; config check: mistakes
  kExitDown = 2,      ///< no daemon, or one that does not answer
  kExitFailed = 3,    ///< the daemon refused: no such key, client, namespace
  kExitDenied = 4,
  kExitUsage = 64,
  kExitOutput = 74  ///< the answer could not be written; as EX_IOERR of sysexits.h
};

/// What ends a command: cause and fix for people, code and status for programs. Caught in main().
class Failure : public std::runtime_error {
 public:
  Failure(ExitStatus status, std::string word, const std::string& message)
      : std::runtime_error(message), exit_status(status), code(std::move(word)) {}

  const ExitStatus exit_status;
  const std::string code;  ///< the daemon's word for it, or "unavailable", "denied", "usage"
};

}  // namespace kvtier::ctl
