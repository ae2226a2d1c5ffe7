// Looked at when somebody asks: no thread keeps count.

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>

#include "daemon/admin/admin_facts.h"
#include "daemon/session/descriptor_room.h"

namespace kvtier {
namespace {

std::uint64_t descriptors_in_use(std::uint64_t limit) {
  DIR* list = ::opendir("/proc/self/fd");
  if (list == nullptr) return errno == EMFILE || errno == ENFILE ? limit : 0;
  std::uint64_t count = 0;
  while (::readdir(list) != nullptr) ++count;
  ::closedir(list);
  return count - 3;  // ".", "..", and the list itself
}

}  // namespace

std::vector<std::string> place_complaints(const AdminFacts& facts) {
  std::vector<std::string> lines;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const std::uint64_t used = descriptors_in_use(limit.rlim_cur);
    if (used + 1 + kDescriptorsOfAClient > limit.rlim_cur) {
      lines.push_back(
          std::to_string(used) + " of " + std::to_string(limit.rlim_cur) +
          " descriptors are in use: new clients are refused; raise LimitNOFILE= of the unit (ulimit -n)");
    }
  }
  struct stat info {};
  if (!facts.socket.empty() && ::lstat(facts.socket.c_str(), &info) != 0)
    lines.push_back("socket " + facts.socket + " was deleted: nobody can connect until it is made again");
  return lines;
}

}  // namespace kvtier
