#include "daemon/config/identities.h"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <vector>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr std::size_t kRecordBytesMax = 64 * kKiB;

}  // namespace

std::optional<std::uint32_t> SystemIdentities::uid_of(const std::string& name) const {
  std::vector<char> buffer(kRecordBytesMax);
  passwd record{};
  passwd* found = nullptr;
  getpwnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return record.pw_uid;
}

std::optional<std::uint32_t> SystemIdentities::gid_of(const std::string& name) const {
  std::vector<char> buffer(kRecordBytesMax);
  group record{};
  group* found = nullptr;
  getgrnam_r(name.c_str(), &record, buffer.data(), buffer.size(), &found);
  if (found == nullptr) return std::nullopt;
  return record.gr_gid;
}

std::uint32_t SystemIdentities::own_uid() const {
  return geteuid();
}

}  // namespace kvtier
