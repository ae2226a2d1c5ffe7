#pragma once
// Folders of a tier: stores that ended cleanly, other programs' files, and what a start makes of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "tests/unit/tier/running_tier.h"

namespace kvtier::test {

/// Size and content of every file below a folder.
inline std::map<std::string, std::pair<std::uintmax_t, std::string>> files_below(const std::string& folder) {
  std::map<std::string, std::pair<std::uintmax_t, std::string>> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    // The lock names whoever opened last, and has nothing to keep.
    const bool is_lock = entry.path().filename() == kStoreLockName;
    std::string content(std::istreambuf_iterator<char>(file), {});
    files[entry.path()] = {entry.file_size(),
                           is_lock ? "" : std::to_string(std::hash<std::string>{}(content))};
  }
  return files;
}

inline std::string make_foreign(const ScratchDir& dir, std::uint64_t bytes) {
  const std::string folder = make_folder(dir, "foreign");
  std::ofstream(folder + "/" + kStoreFileName) << "another program's";
  std::filesystem::resize_file(folder + "/" + kStoreFileName, bytes);
  return folder;
}

/// Block `number`, written and answered.
inline void put_one(RunningTier& life, std::uint64_t number) {
  DiskCommand put = life.command(DiskCommandKind::kPut, number, 1);
  put.is_group_end = true;
  life.send(put);
  EXPECT_EQ(life.wait_for(DiskNewsKind::kPut).code, Code::kOk);
}

/// A store of 33 MiB that ended cleanly, with a block.
inline std::string make_store(const ScratchDir& dir, const std::string& name) {
  std::string folder = make_folder(dir, name);
  RunningTier life(options_of({folder}));
  life.open();
  put_one(life, 1);
  life.close();
  return folder;
}

/// The blocks that a start finds.
inline std::size_t count_entries(const NvmeTierOptions& options) {
  RunningTier life(options);
  if (life.opening().tier == nullptr) return 0;
  life.open();
  const auto is_entry = [](const DiskNews& each) { return each.kind == DiskNewsKind::kEntry; };
  const auto entries = static_cast<std::size_t>(std::ranges::count_if(life.news, is_entry));
  life.close();
  return entries;
}

/// Opens, expects that the store stays shut with these words, and that no file is another, or there.
inline void expect_shut(const ScratchDir& dir, const NvmeTierOptions& options, const std::string& words) {
  const auto before = files_below(dir.path());
  {
    const DiskOpening opening = DiskOpening::open(options);
    ASSERT_NE(opening.tier, nullptr) << opening.status.to_string();
    (void)opening.tier->agent().do_work(kNsPerSecond);
    EXPECT_EQ(opening.tier->snapshot().read().state, NvmeTierState::kRefused);
    const std::string refusal = opening.tier->snapshot().refusal();
    EXPECT_NE(refusal.find(words), std::string::npos) << refusal;
    EXPECT_NE(refusal.find("Nothing was changed"), std::string::npos) << refusal;
  }
  EXPECT_EQ(files_below(dir.path()), before);
}

}  // namespace kvtier::test
