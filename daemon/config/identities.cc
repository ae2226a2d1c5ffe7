#include "daemon/config/identities.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::size_t kRecordBytesMin = 64 * kKiB;
constexpr std::size_t kRecordBytesMax = 64 * kMiB;

}  // namespace

std::optional<std::uint32_t> SystemIdentities::uid_of(const std::string& name) const {
  std::vector<char> buffer(kRecordBytesMin);
  passwd record{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return record.pw_uid;
}

std::optional<std::uint32_t> SystemIdentities::gid_of(const std::string& name) const {
  std::vector<char> buffer(kRecordBytesMin);
  group record{};
  group* found = nullptr;
  // The record holds all members' names.
  while (getgrnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < kRecordBytesMax)
    buffer.resize(2 * buffer.size());
  if (found == nullptr) return std::nullopt;
  return record.gr_gid;
}

std::uint32_t SystemIdentities::own_uid() const {
  return geteuid();
}

}  // namespace kvtier
