#pragma once
// Which namespaces and specs the digests on disk are: a file beside each path's data, appended to and never rewritten
// (SPACES.md). All folders of a store have all of it, so that a path that is missing takes no meaning with it.
//
// Thread: whoever owns it; calls the system and waits for it, once a space. Locks nothing: its folders are owned.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/tier/disk_command.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

inline constexpr const char* kSpacesFileName = "kvtier.spaces";

class SpaceCatalog {
 public:
  SpaceCatalog() = default;

  /// Reads the folder's file, makes it where it is missing, cuts a record that was not written to its end: a file that
  /// loses bytes so is copied first (kept_aside()). kVersion: refused, nothing was changed. kNotFound, kDenied, kNoSpace, kSystem.
  Status add_folder(const std::string& folder);
  /// The same of a file that is only looked at: nothing is made, cut, or appended to later.
  Status read_folder(const std::string& folder);
  /// Gives every folder what the others have. A folder that refuses is left as it is, and counted.
  void complete();

  /// Without ids, as the folders had them.
  [[nodiscard]] const std::vector<DiskSpace>& spaces() const { return spaces_; }
  [[nodiscard]] bool has(const std::string& namespace_name, const Digest& digest) const;
  /// `record` of encode_space_record(space). Durable, in one folder at least, when it returns kOk. Nothing is allocated but
  /// for a failure.
  [[nodiscard]] Code keep(std::span<std::byte> record);

  [[nodiscard]] std::uint64_t corrupt_count() const { return corrupt_count_; }
  [[nodiscard]] std::uint64_t cut_count() const { return cut_count_; }
  /// Copies of damaged files as they were found, this time: whole paths.
  [[nodiscard]] const std::vector<std::string>& kept_aside() const { return kept_aside_; }
  /// Appends that failed; the last one's errno.
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }
  [[nodiscard]] int error() const { return error_; }

 private:
  struct File {
    UniqueFd fd;
    std::uint64_t end = 0;
    std::vector<DiskSpace> spaces;
  };

  Status load(const std::string& folder, int flags, File& file);
  [[nodiscard]] bool append(File& file, std::span<std::byte> record);

  std::vector<File> files_;
  std::vector<DiskSpace> spaces_;
  std::vector<std::string> kept_aside_;
  std::uint64_t corrupt_count_ = 0;
  std::uint64_t cut_count_ = 0;
  std::uint64_t failed_count_ = 0;
  int error_ = 0;
};

}  // namespace kvtier
