#include "daemon/session/descriptor_room.h"

#include <fcntl.h>

#include <array>
#include <cerrno>

#include "libkvclient/base/unique_fd.h"

namespace kvtier {

Status out_of_descriptors() {
  return {Code::kNoSpace, "the daemon is out of descriptors; raise LimitNOFILE= of its unit (ulimit -n)"};
}

Status check_descriptor_room(int fd) {
  std::array<UniqueFd, kDescriptorsOfAClient> room;
  for (UniqueFd& each : room) {
    each.reset(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (each.is_open()) continue;
    return errno == EMFILE || errno == ENFILE ? out_of_descriptors()
                                              : Status::from_errno("fcntl(F_DUPFD_CLOEXEC)", errno);
  }
  return Status::ok();
}

}  // namespace kvtier
