#include "daemon/disk/path_owner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "libkvclient/base/path_error.h"
#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Result<UniqueFd> open_regular(int folder, const std::string& path, const char* name, int flags) {
  UniqueFd file(::openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return path_error("open(" + path + "/" + name + ")", errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Status::from_errno("fstat(" + path + "/" + name + ")", errno);
  if (!S_ISREG(facts.st_mode)) return Status(Code::kInvalid, path + "/" + name + " is not a regular file");
  return file;
}

// Whoever has the lock is alone with it: nobody makes the file meanwhile.
bool is_absent(int folder) {
  struct stat facts {};
  return ::fstatat(folder, kStoreFileName, &facts, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

std::string holder_of(int lock) {
  std::array<char, 256> text{};
  const ssize_t length = ::pread(lock, text.data(), text.size() - 1, 0);
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length))
                    : "one that has not said who it is";
}

Status take_lock(int lock, const PathOwnerOptions& options) {
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return Status::from_errno("flock in " + options.folder, errno);
    return {Code::kExists, options.folder + " is in use by instance " + holder_of(lock) +
                               ": give each path of each daemon a folder of its own"};
  }
  const bool is_written =
      ::ftruncate(lock, 0) == 0 && ::pwrite(lock, options.instance.data(), options.instance.size(), 0) >= 0;
  return is_written ? Status::ok() : Status::from_errno("writing the lock file in " + options.folder, errno);
}

// Who wrote here may be dead and its last writes still on their way: they hold the file, and so its lock.
Status wait_for_writes(int data, const std::string& folder) {
  constexpr int kTriesMax = 1000;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int i = 0; i < kTriesMax; ++i) {
    if (::flock(data, LOCK_EX | LOCK_NB) == 0) return Status::ok();
    if (errno != EWOULDBLOCK) return Status::from_errno("flock in " + folder, errno);
    ::nanosleep(&kPause, nullptr);
  }
  return {Code::kExists,
          folder + ": requests of a process that died are not over after 10 s: the device hangs"};
}

Status refuse_larger(const PathOwnerOptions& options, std::uint64_t bytes) {
  return {Code::kInvalid, options.folder + "/" + kStoreFileName + " has " + format_size(bytes) +
                              ", the path may have " + format_size(options.bytes_max) +
                              ": raise the setting, or move the file away to begin with an empty one"};
}

Status no_room(const PathOwnerOptions& options, const PathRoom& room) {
  return {Code::kNoSpace, options.folder + " has no room: " + format_size(options.bytes_min) +
                              " is the least, its file system has " + format_size(room.free_bytes) +
                              " free, of which nvme.headroom keeps " + format_size(options.headroom_bytes) +
                              "; free some, lower nvme.headroom, or use another folder"};
}

// Somebody else may take what was free a moment ago: then whole steps, as many as there is room for.
Result<std::uint64_t> allocate(int file, const PathOwnerOptions& options, std::uint64_t have,
                               std::uint64_t wanted) {
  if (::fallocate(file, 0, 0, static_cast<off_t>(wanted)) == 0) return wanted;
  if (errno == EOPNOTSUPP) {
    if (::ftruncate(file, static_cast<off_t>(wanted)) == 0) return wanted;
    return Status::from_errno("ftruncate in " + options.folder, errno);
  }
  if (errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
    return Status::from_errno("fallocate in " + options.folder, errno);
  std::uint64_t end = std::max(have, options.bytes_min);
  if (::fallocate(file, 0, 0, static_cast<off_t>(end)) != 0) {
    return Status(Code::kNoSpace, options.folder + " has no room for " + format_size(end) + ": " +
                                      std::strerror(errno) + "; free some, or use another folder");
  }
  while (end + options.step_bytes <= wanted &&
         ::fallocate(file, 0, static_cast<off_t>(end), static_cast<off_t>(options.step_bytes)) == 0)
    end += options.step_bytes;
  return ::ftruncate(file, static_cast<off_t>(end)) == 0
             ? Result<std::uint64_t>(end)
             : Result<std::uint64_t>(Status::from_errno("ftruncate in " + options.folder, errno));
}

std::uint64_t pack(const fsid_t& id) {
  std::uint64_t packed = 0;
  static_assert(sizeof id == sizeof packed);
  std::memcpy(&packed, &id, sizeof packed);
  return packed;
}

Result<std::uint64_t> fit(int file, const PathOwnerOptions& options, PathRoom room) {
  if (room.file_bytes > options.bytes_max) {
    if (!options.may_shrink) return refuse_larger(options, room.file_bytes);
    if (::ftruncate(file, static_cast<off_t>(options.bytes_max)) != 0)
      return Status::from_errno("ftruncate in " + options.folder, errno);
    room.file_bytes = options.bytes_max;
  }
  const std::uint64_t wanted = path_bytes_fitting(options, room);
  if (wanted < options.bytes_min) return no_room(options, room);
  return allocate(file, options, room.file_bytes, wanted);
}

Status settle(OwnedPath& path, int folder, const PathOwnerOptions& options) {
  struct stat facts {};
  struct statfs system {};
  if (::fstat(path.data.get(), &facts) != 0 || ::fstatfs(path.data.get(), &system) != 0)
    return Status::from_errno("fstat in " + options.folder, errno);
  constexpr std::uint64_t kStatBlockBytes = 512;
  const PathRoom room{.file_bytes = static_cast<std::uint64_t>(facts.st_size),
                      .allocated_bytes = static_cast<std::uint64_t>(facts.st_blocks) * kStatBlockBytes,
                      .free_bytes = static_cast<std::uint64_t>(system.f_bavail) *
                                    static_cast<std::uint64_t>(system.f_frsize)};
  const Result<std::uint64_t> bytes = fit(path.data.get(), options, room);
  if (!bytes.is_ok()) return bytes.status();
  path.bytes = bytes.value();
  path.is_short = path.bytes < options.bytes_max;
  path.home_fsid = pack(system.f_fsid);
  path.home_inode = facts.st_ino;
  // Name and size are there after a power cut before anything is promised.
  if (::fsync(path.data.get()) != 0 || ::fsync(folder) != 0)
    return Status::from_errno("fsync in " + options.folder, errno);
  return Status::ok();
}

}  // namespace

std::uint64_t path_bytes_fitting(const PathOwnerOptions& options, const PathRoom& room) {
  const std::uint64_t spare = room.free_bytes - std::min(room.free_bytes, options.headroom_bytes);
  const std::uint64_t fitting = room.allocated_bytes + spare;
  if (fitting >= options.bytes_max) return options.bytes_max;
  std::uint64_t bytes = 0;
  if (fitting >= options.bytes_min)
    bytes = fitting - (fitting - options.bytes_min) % std::max<std::uint64_t>(options.step_bytes, 1);
  return std::max(bytes, room.file_bytes);
}

void disown_path(const OwnedPath& path, const std::string& folder) {
  if (path.is_created) (void)::unlink((folder + "/" + kStoreFileName).c_str());
}

Result<OwnedPath> own_path(const PathOwnerOptions& options) {
  const UniqueFd folder(::open(options.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return path_error("open(" + options.folder + ")", errno);
  OwnedPath path;
  Result<UniqueFd> lock = open_regular(folder.get(), options.folder, kStoreLockName, 0);
  if (!lock.is_ok()) return lock.status();
  path.lock = std::move(lock).value();
  KV_RETURN_IF_ERROR(take_lock(path.lock.get(), options));
  const int flags = options.use_direct ? O_DIRECT : 0;
  path.is_created = is_absent(folder.get());
  Result<UniqueFd> data = open_regular(folder.get(), options.folder, kStoreFileName, flags);
  Status status = data.status();
  if (status.is_ok()) {
    path.data = std::move(data).value();
    status = wait_for_writes(path.data.get(), options.folder);
  }
  if (status.is_ok()) status = settle(path, folder.get(), options);
  if (status.is_ok()) return path;
  disown_path(path, options.folder);
  return status;
}

}  // namespace kvtier
