#pragma once
// kvtier-keeper: the small parent of kvtierd where there is no systemd. It holds descriptors, restarts
// kvtierd when it died and hands them back. It has no settings and touches no memory, so that it has no
// reason to die.

#include <string>
#include <vector>

namespace kvtier {

/// Runs `command` until it ends for good; returns the exit code to end with.
int keep(const std::vector<std::string>& command);

}  // namespace kvtier
