#include "libkvclient/wire/directory_reader.h"

#include "libkvclient/base/check.h"

namespace kvtier {

Result<DirectoryReader> DirectoryReader::attach(std::span<const std::byte> memory) {
  const Result<DirectoryHash> hash = directory_check_header(memory);
  if (!hash.is_ok()) return hash.status().while_doing("attach the directory");
  DirectoryReader reader;
  reader.hash_ = hash.value();
  reader.header_ = reinterpret_cast<const DirectoryHeader*>(memory.data());
  reader.index_ = reinterpret_cast<const DirectoryIndex::Word*>(memory.data() + sizeof(DirectoryHeader));
  reader.lines_ = reinterpret_cast<const DirectoryLine*>(
      memory.data() + DirectoryLayout::entries_offset(reader.hash_.capacity));
  return reader;
}

std::size_t DirectoryReader::find_batch(SpaceId space, std::span<const Key> keys,
                                        std::span<Residency> at) const {
  KV_CHECK(at.size() >= keys.size(), "find_batch needs a residency a key");
  std::size_t found_count = 0;
  find_chunks(
      space, keys,
      [&](std::size_t index, bool found, const Residency& residency) {
        at[index] = residency;
        found_count += found ? 1 : 0;
        return true;
      },
      [](std::size_t, std::size_t) {});
  return found_count;
}

}  // namespace kvtier
