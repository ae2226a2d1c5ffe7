#pragma once
// A folder of the system whose disk has a volatile cache: a power cut leaves of each file below it what its last sync made
// durable, under the names that the last sync of their folder did. The program's own fsync and fdatasync are told of it, as
// the executable that links this has them in place of the C library's.
//
// One at a time, and none of its files is written while it cuts. What was there at first is durable.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace kvtier::test {

class PowerCutFolder {
 public:
  explicit PowerCutFolder(std::string folder);
  ~PowerCutFolder();
  PowerCutFolder(const PowerCutFolder&) = delete;
  PowerCutFolder& operator=(const PowerCutFolder&) = delete;

  /// From now on so many syncs more count: what comes later is lost with the power.
  void set_syncs_left(std::uint64_t count) { syncs_left_ = count; }
  [[nodiscard]] std::uint64_t sync_count() const { return sync_count_; }
  /// Files and names are what is durable; so they stay.
  void cut();

  /// For fsync and fdatasync.
  static void on_sync(int file);

 private:
  void keep_file(const std::string& path);
  void keep_names(const std::string& folder);

  const std::string folder_;
  std::map<std::string, std::set<std::string>> names_;  ///< of each folder
  std::map<std::uint64_t, std::string> contents_;       ///< of each inode
  std::map<std::string, std::uint64_t> inodes_;         ///< that those names mean
  std::uint64_t syncs_left_ = ~std::uint64_t{0};
  std::uint64_t sync_count_ = 0;
};

}  // namespace kvtier::test
