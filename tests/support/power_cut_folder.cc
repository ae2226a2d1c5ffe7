#include "tests/support/power_cut_folder.h"

#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "libkvclient/base/check.h"

namespace kvtier::test {
namespace {

PowerCutFolder* watched = nullptr;

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t inode_of(const std::string& path) {
  struct stat facts {};
  KV_CHECK(::lstat(path.c_str(), &facts) == 0, "a file that was just listed is there");
  return facts.st_ino;
}

}  // namespace

PowerCutFolder::PowerCutFolder(std::string folder) : folder_(std::move(folder)) {
  KV_CHECK(watched == nullptr, "one folder at a time is watched");
  keep_names(folder_);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
    entry.is_directory() ? keep_names(entry.path()) : keep_file(entry.path());
  watched = this;
}

PowerCutFolder::~PowerCutFolder() {
  watched = nullptr;
}

void PowerCutFolder::keep_file(const std::string& path) {
  contents_[inode_of(path)] = content_of(path);
}

void PowerCutFolder::keep_names(const std::string& folder) {
  for (const std::string& name : names_[folder]) inodes_.erase(name);
  names_[folder].clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names_[folder].insert(entry.path());
    inodes_[entry.path()] = inode_of(entry.path());
  }
}

void PowerCutFolder::on_sync(int file) {
  if (watched == nullptr) return;
  std::error_code error;
  const std::string path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  if (error || !path.starts_with(watched->folder_) || !std::filesystem::exists(path)) return;
  ++watched->sync_count_;
  if (watched->syncs_left_ == 0) return;
  --watched->syncs_left_;
  std::filesystem::is_directory(path) ? watched->keep_names(path) : watched->keep_file(path);
}

// A name without a synced file is there, and the file is empty.
void PowerCutFolder::cut() {
  for (const auto& [folder, names] : names_) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const bool is_durable =
          inodes_.contains(entry.path()) && inodes_[entry.path()] == inode_of(entry.path());
      if (!is_durable) std::filesystem::remove_all(entry.path());
    }
    for (const std::string& name : names) {
      if (std::filesystem::is_directory(name)) continue;
      const auto kept = contents_.find(inodes_[name]);
      std::ofstream(name, std::ios::binary | std::ios::trunc)
          << (kept == contents_.end() ? std::string() : kept->second);
      keep_file(name);
    }
    keep_names(folder);
  }
  syncs_left_ = ~std::uint64_t{0};
}

}  // namespace kvtier::test

extern "C" {

int fsync(int file) {
  const auto result = static_cast<int>(::syscall(SYS_fsync, file));
  if (result == 0) kvtier::test::PowerCutFolder::on_sync(file);
  return result;
}

int fdatasync(int file) {
  const auto result = static_cast<int>(::syscall(SYS_fdatasync, file));
  if (result == 0) kvtier::test::PowerCutFolder::on_sync(file);
  return result;
}
}
