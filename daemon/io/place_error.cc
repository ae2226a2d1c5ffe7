#include "daemon/io/place_error.h"

#include <sys/stat.h>

#include <cerrno>

#include "daemon/io/io_status.h"
#include "libkvclient/base/path_error.h"

namespace kvtier {
namespace {

Status with_cure(const std::string& call, int error_number, const std::string& cure) {
  const Status status = path_error(call, error_number);
  if (!cure.empty()) return {status.code(), status.message() + "; " + cure};
  return status.code() == Code::kSystem ? io_error(call, error_number) : status;
}

std::string read_only_cure(const std::string& path) {
  return "the file system of " + path +
         " is mounted read-only: remount it read-write (mount -o remount,rw; the kernel log says why it "
         "became so), or use another folder";
}

// Of a name that is there and is no folder, or of one of its parents.
std::string not_a_folder_cure(const std::string& folder) {
  struct stat facts {};
  const bool is_itself = ::stat(folder.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
  return (is_itself ? folder + " is no folder" : "a parent of " + folder + " is no folder") +
         ": name another one in dir, or move it away";
}

std::string folder_cure(const std::string& folder, int error_number) {
  switch (error_number) {
    case ENOENT:
      return "make the folder (mkdir -p " + folder + "), or correct dir";
    case ENOTDIR:
      return not_a_folder_cure(folder);
    case EACCES:
    case EPERM:
      return "give the folder to the daemon's user (chown), and let it through the folders above";
    case EROFS:
      return read_only_cure(folder);
    case ELOOP:
      return "its symbolic links lead in a circle: correct dir";
    default:
      return {};
  }
}

std::string file_cure(const std::string& file, int error_number) {
  switch (error_number) {
    case EACCES:
    case EPERM:
      return "the folder is the daemon's, this file is not: give it to the daemon's user (chown " + file +
             ")";
    case EROFS:
      return read_only_cure(file);
    case ELOOP:
      return "it is a symbolic link, which is not followed: name the folder that has the file in dir, or "
             "move the link away";
    case EISDIR:
      return "it is a folder where a file is to be: move it away";
    case ENXIO:
      return "it is no regular file: move it away";
    default:
      return {};
  }
}

}  // namespace

Status folder_error(const std::string& call, const std::string& folder, int error_number) {
  return with_cure(call, error_number, folder_cure(folder, error_number));
}

Status file_error(const std::string& call, const std::string& file, int error_number) {
  return with_cure(call, error_number, file_cure(file, error_number));
}

}  // namespace kvtier
