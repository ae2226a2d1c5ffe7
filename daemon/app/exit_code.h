#pragma once
// How kvtierd and kvtier-keeper end. Documented in --help and kvtierd.8; scripts and units rely on them.

namespace kvtier {

enum ExitCode : int {
  kExitOk = 0,              ///< stopped on request
  kExitFailure = 1,         ///< a failure at start that is none of the below
  kExitUsage = 2,           ///< command line or configuration
  kExitAlreadyRunning = 3,  ///< another instance owns the socket
  kExitNoMemory = 4,        ///< the host tier does not fit
  kExitAgentFailed = 70,    ///< a thread failed while serving (agent_runner.h)
};

/// Starting again would end the same way.
constexpr bool is_final(int code) {
  return code >= kExitOk && code <= kExitNoMemory && code != kExitFailure;
}

}  // namespace kvtier
