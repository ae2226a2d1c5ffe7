#include "daemon/disk/path_size.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libkvclient/base/units.h"

namespace kvtier {
namespace {

Status refuse_larger(const OwnedPath& path, const PathSizeOptions& options) {
  return {Code::kInvalid,
          path.folder + "/" + kStoreFileName + " has " + format_size(path.bytes) + ", the path may have " +
              format_size(options.bytes_max) +
              ": raise nvme.paths[].bytes, or move the file away to begin with an empty one; a "
              "file that lies elsewhere than where its store was made is also emptied by "
              "nvme.home: fresh"};
}

// Of a file that is there the segments are what they are.
Status no_room(const OwnedPath& path, const PathSizeOptions& options, const PathRoom& room) {
  const bool is_new = path.bytes == 0 || options.is_given_up;
  return {Code::kNoSpace, path.folder + " has no room: " + format_size(options.bytes_min) +
                              " is the least with segments of " + format_size(options.step_bytes) +
                              ", its file system has " + format_size(room.free_bytes) +
                              " free, of which nvme.headroom keeps " + format_size(options.headroom_bytes) +
                              "; free some, lower nvme.headroom" + (is_new ? " or nvme.segment_bytes" : "") +
                              ", or use another folder"};
}

Status allocate_least(const OwnedPath& path, std::uint64_t end) {
  if (::fallocate(path.data.get(), 0, 0, static_cast<off_t>(end)) == 0) return Status::ok();
  return {Code::kNoSpace, path.folder + " has no room for " + format_size(end) + ": " + std::strerror(errno) +
                              "; free some, or use another folder"};
}

// Somebody else may take what was free a moment ago: then whole steps, as many as there is room for.
Status allocate(OwnedPath& path, const PathSizeOptions& options, std::uint64_t wanted) {
  const int file = path.data.get();
  std::uint64_t end = wanted;
  if (::fallocate(file, 0, 0, static_cast<off_t>(wanted)) != 0) {
    if (errno != EOPNOTSUPP && errno != ENOSPC && errno != EDQUOT && errno != EFBIG)
      return Status::from_errno("fallocate in " + path.folder, errno);
    if (errno != EOPNOTSUPP) {
      end = std::max(path.bytes, options.bytes_min);
      KV_RETURN_IF_ERROR(allocate_least(path, end));
      while (end + options.step_bytes <= wanted &&
             ::fallocate(file, 0, static_cast<off_t>(end), static_cast<off_t>(options.step_bytes)) == 0)
        end += options.step_bytes;
    }
    if (::ftruncate(file, static_cast<off_t>(end)) != 0)
      return Status::from_errno("ftruncate in " + path.folder, errno);
  }
  path.bytes = end;
  path.is_short = end < options.bytes_max;
  return Status::ok();
}

Result<PathRoom> room_of(const OwnedPath& path, const PathSizeOptions& options) {
  struct stat facts {};
  struct statfs system {};
  if (::fstat(path.data.get(), &facts) != 0 || ::fstatfs(path.data.get(), &system) != 0)
    return Status::from_errno("fstat in " + path.folder, errno);
  constexpr std::uint64_t kStatBlockBytes = 512;
  return PathRoom{.file_bytes = options.is_given_up ? 0 : path.bytes,
                  .allocated_bytes = static_cast<std::uint64_t>(facts.st_blocks) * kStatBlockBytes,
                  .free_bytes = static_cast<std::uint64_t>(system.f_bavail) *
                                static_cast<std::uint64_t>(system.f_frsize)};
}

// Name and size are there after a power cut before anything is promised.
Status sync_path(const OwnedPath& path) {
  const UniqueFd folder(::open(path.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open() && ::fsync(path.data.get()) == 0 && ::fsync(folder.get()) == 0) return Status::ok();
  return Status::from_errno("fsync in " + path.folder, errno);
}

}  // namespace

std::uint64_t path_bytes_fitting(const PathSizeOptions& options, const PathRoom& room) {
  const std::uint64_t spare = room.free_bytes - std::min(room.free_bytes, options.headroom_bytes);
  const std::uint64_t fitting = room.allocated_bytes + spare;
  if (fitting >= options.bytes_max) return options.bytes_max;
  std::uint64_t bytes = 0;
  if (fitting >= options.bytes_min)
    bytes = fitting - (fitting - options.bytes_min) % std::max<std::uint64_t>(options.step_bytes, 1);
  return std::max(bytes, room.file_bytes);
}

Result<std::uint64_t> plan_path_size(const OwnedPath& path, const PathSizeOptions& options) {
  if (path.bytes > options.bytes_max && !options.is_given_up) return refuse_larger(path, options);
  const Result<PathRoom> room = room_of(path, options);
  if (!room.is_ok()) return room.status();
  const std::uint64_t bytes = path_bytes_fitting(options, room.value());
  if (bytes < options.bytes_min) return no_room(path, options, room.value());
  return bytes;
}

Status size_path(OwnedPath& path, const PathSizeOptions& options) {
  const Result<std::uint64_t> bytes = plan_path_size(path, options);
  if (!bytes.is_ok()) return bytes.status();
  if (options.is_given_up) {
    if (::ftruncate(path.data.get(), 0) != 0) return Status::from_errno("ftruncate in " + path.folder, errno);
    path.bytes = path.bytes_found = 0;
  }
  Status status = allocate(path, options, bytes.value());
  if (status.is_ok()) return sync_path(path);
  // As it was: of a request that failed a part may be allocated.
  (void)::ftruncate(path.data.get(), static_cast<off_t>(path.bytes));
  return status;
}

}  // namespace kvtier
