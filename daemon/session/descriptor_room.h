#pragma once
// Whether this process can open what a client needs. Asked once, before the first of them: a greeting that runs out
// halfway could only repeat what the kernel said.

#include "libkvclient/base/status.h"

namespace kvtier {

/// Beside its socket: pidfd, doorbell, channel, and what a new namespace needs.
inline constexpr int kDescriptorsOfAClient = 8;

Status out_of_descriptors();
/// kNoSpace with the remedy. `fd`: any open one, which is duplicated; nothing stays open.
Status check_descriptor_room(int fd);

}  // namespace kvtier
