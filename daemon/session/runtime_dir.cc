#include "daemon/session/runtime_dir.h"

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "libkvclient/base/path_error.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

constexpr mode_t kMode = 0750;
constexpr std::size_t kGroupBytesMin = 4 * kKiB;
constexpr std::size_t kGroupBytesMax = 64 * kMiB;

Status make(const std::string& path, std::optional<gid_t> group) {
  if (group && ::chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0)
    return path_error("chown(" + path + ")", errno);
  if (::chmod(path.c_str(), kMode) != 0) return path_error("chmod(" + path + ")", errno);
  return Status::ok();
}

Status check(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return path_error("stat(" + path + ")", errno);
  if (!S_ISDIR(info.st_mode)) return {Code::kInvalid, path + " is not a directory"};
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return {Code::kDenied, path + " belongs to uid " + std::to_string(info.st_uid) + ", not to uid " +
                               std::to_string(::geteuid()) + " or root; remove it or set runtime_dir"};
  }
  const bool others_write = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (others_write)
    return {Code::kDenied, path + " may be written by other users; chmod it to 0750 or set runtime_dir"};
  return Status::ok();
}

}  // namespace

Status prepare_runtime_dir(const std::string& path, std::optional<gid_t> group) {
  if (::mkdir(path.c_str(), kMode) == 0) return make(path, group);
  if (errno != EEXIST) return path_error("mkdir(" + path + ")", errno);
  return check(path);
}

Status find_group(const std::string& name, std::optional<gid_t>& group) {
  group.reset();
  if (name.empty()) return Status::ok();
  if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    group = static_cast<gid_t>(std::strtoul(name.c_str(), nullptr, 10));
    return Status::ok();
  }
  // The record holds all members' names: of a large group, many KiB.
  ::group entry{};
  ::group* found = nullptr;
  std::vector<char> buffer(kGroupBytesMin);
  while (::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < kGroupBytesMax)
    buffer.resize(2 * buffer.size());
  if (found == nullptr) return {Code::kNotFound, "there is no group \"" + name + "\""};
  group = found->gr_gid;
  return Status::ok();
}

}  // namespace kvtier
