#include "daemon/tier/space_catalog.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "daemon/tier/space_format.h"
#include "libkvclient/base/path_error.h"

namespace kvtier {
namespace {

bool has_space(const std::vector<DiskSpace>& spaces, const std::string& name, const Digest& digest) {
  return std::ranges::any_of(
      spaces, [&](const DiskSpace& each) { return each.namespace_name == name && each.digest == digest; });
}

bool write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    offset += static_cast<std::uint64_t>(put);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

Result<std::vector<std::byte>> read_all(int fd, const std::string& path) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return Status::from_errno("fstat(" + path + ")", errno);
  if (!S_ISREG(facts.st_mode)) return Status(Code::kInvalid, path + " is not a regular file");
  if (static_cast<std::uint64_t>(facts.st_size) > kSpacesFileBytesMax)
    return Status(Code::kInvalid, path + " is larger than any file of spaces: move it away");
  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Status::from_errno("read(" + path + ")", errno);
    if (got == 0) bytes.resize(at);
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

Status sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || ::fsync(fd.get()) != 0) return path_error("fsync(" + folder + ")", errno);
  return Status::ok();
}

// Makes a file of its own of what is about to be cut or skipped, durably. Empty: there is no room for it, or there are as many
// already.
std::string keep_aside(const std::string& folder, std::span<const std::byte> bytes) {
  const std::string path = folder + "/" + kSpacesFileName;
  constexpr int kKeptMax = 4;
  for (int i = 1; i <= kKeptMax; ++i) {
    std::string name = path + ".damaged" + (i == 1 ? "" : "." + std::to_string(i));
    const UniqueFd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd.is_open() && errno == EEXIST) continue;
    const bool is_kept = fd.is_open() && write_all(fd.get(), bytes, 0) && ::fsync(fd.get()) == 0 &&
                         sync_folder(folder).is_ok();
    if (is_kept) return name;
    if (fd.is_open()) (void)::unlink(name.c_str());
    break;
  }
  return {};
}

// The header is durable, in a file with a durable name, before the first record.
Status settle(int fd, const std::string& folder, const SpacesFile& found, std::uint64_t& end) {
  const std::string path = folder + "/" + kSpacesFileName;
  end = std::max<std::uint64_t>(found.end, sizeof(SpacesHeader));
  const bool is_written =
      ::ftruncate(fd, static_cast<off_t>(end)) == 0 && write_all(fd, encode_spaces_header(), 0);
  if (!is_written) return path_error("write(" + path + ")", errno);
  if (::fsync(fd) != 0) return path_error("fsync(" + path + ")", errno);
  return sync_folder(folder);
}

}  // namespace

Status SpaceCatalog::load(const std::string& folder, int flags, File& file) {
  const std::string path = folder + "/" + kSpacesFileName;
  file.fd.reset(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.fd.is_open()) return path_error("open(" + path + ")", errno);
  const Result<std::vector<std::byte>> bytes = read_all(file.fd.get(), path);
  if (!bytes.is_ok()) return bytes.status();
  Result<SpacesFile> found = parse_spaces(bytes.value());
  if (!found.is_ok()) return found.status().while_doing("reading " + path);
  const bool is_writable = (flags & O_RDWR) != 0;
  const bool is_whole = found.value().corrupt_count == 0 && !found.value().is_cut;
  if (is_writable && !is_whole) {
    std::string name = keep_aside(folder, bytes.value());
    if (!name.empty()) kept_aside_.push_back(std::move(name));
  }
  if (is_writable) KV_RETURN_IF_ERROR(settle(file.fd.get(), folder, found.value(), file.end));
  corrupt_count_ += found.value().corrupt_count;
  cut_count_ += found.value().is_cut ? 1 : 0;
  file.spaces = std::move(found.value().spaces);
  for (const DiskSpace& space : file.spaces) {
    if (!has(space.namespace_name, space.digest)) spaces_.push_back(space);
  }
  return Status::ok();
}

Status SpaceCatalog::add_folder(const std::string& folder) {
  File file;
  KV_RETURN_IF_ERROR(load(folder, O_RDWR | O_CREAT, file));
  files_.push_back(std::move(file));
  return Status::ok();
}

Status SpaceCatalog::read_folder(const std::string& folder) {
  File file;
  return load(folder, O_RDONLY, file);
}

bool SpaceCatalog::append(File& file, std::span<std::byte> record) {
  place_space_record(record, file.end);
  const bool is_kept = write_all(file.fd.get(), record, file.end) && ::fdatasync(file.fd.get()) == 0;
  if (is_kept) {
    file.end += record.size();
  } else {
    error_ = errno;
    ++failed_count_;
  }
  return is_kept;
}

void SpaceCatalog::complete() {
  for (File& file : files_) {
    for (const DiskSpace& space : spaces_) {
      if (has_space(file.spaces, space.namespace_name, space.digest)) continue;
      std::vector<std::byte> record = encode_space_record(space);
      (void)append(file, record);  // counted; the others have it
    }
    file.spaces = {};
  }
}

bool SpaceCatalog::has(const std::string& namespace_name, const Digest& digest) const {
  return has_space(spaces_, namespace_name, digest);
}

Code SpaceCatalog::keep(std::span<std::byte> record) {
  bool is_kept = false;
  for (File& file : files_) is_kept = append(file, record) || is_kept;
  if (is_kept) return Code::kOk;
  return error_ == ENOSPC || error_ == EDQUOT ? Code::kNoSpace : Code::kSystem;
}

}  // namespace kvtier
