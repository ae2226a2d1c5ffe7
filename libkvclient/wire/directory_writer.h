#pragma once
// The daemon's side of a directory: the only writer.

#include <cstdint>
#include <span>
#include <vector>

#include "libkvclient/wire/directory.h"

namespace kvtier {

/// The daemon's side. Not thread-safe: one agent owns it. Owns 4 bytes an entry, taken at the start.
class DirectoryWriter {
 public:
  DirectoryWriter() = default;
  /// Formats zero-filled memory of at least bytes_for(capacity) bytes, page aligned. Touches its first page only.
  static Result<DirectoryWriter> create(std::span<std::byte> memory, std::uint64_t capacity,
                                        std::uint64_t seed);
  /// Takes over the directory of an earlier daemon: checks the header, then clears every entry (one may be
  /// half written or half moved). Attached readers go on and miss until the blocks are inserted again.
  static Result<DirectoryWriter> adopt(std::span<std::byte> memory);

  /// kExists: the key is there (update it). kNoSpace: its window is full. kInvalid: no space id, or a value
  /// that does not fit its bits.
  [[nodiscard]] Code insert(const EntryView& entry);
  /// kNotFound, or kInvalid as above.
  [[nodiscard]] Code update(SpaceId space, const Key& key, const Residency& at);
  [[nodiscard]] Code remove(SpaceId space, const Key& key);
  [[nodiscard]] bool find(SpaceId space, const Key& key, Residency& at) const;
  /// Entries have numbers from 0 on and keep theirs while they live. Those from here on were never used.
  [[nodiscard]] std::uint32_t entries_used() const { return used_; }
  /// The entry with this number; false: there is none.
  [[nodiscard]] bool read(std::uint32_t number, EntryView& entry) const;
  /// Brings the home line near; for batches of the calls above.
  void prefetch(SpaceId space, const Key& key) const;
  void clear();
  /// Tells readers that another directory took over.
  void mark_moved();

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t capacity() const { return hash_.capacity; }

 private:
  static DirectoryWriter over(std::span<std::byte> memory, const DirectoryHash& hash);
  /// The key's word in the index, or the empty place after its cluster, or null: its window is full.
  [[nodiscard]] DirectoryIndex::Word* find_word(SpaceId space, const Key& key) const;
  [[nodiscard]] DirectoryLine* find_line(SpaceId space, const Key& key) const;
  std::uint32_t take_number();
  [[nodiscard]] DirectoryLine& line_of(std::uint32_t word) const {
    return lines_[(word & hash_.number_mask) - 1];
  }

  DirectoryHeader* header_ = nullptr;
  DirectoryIndex::Word* index_ = nullptr;
  DirectoryLine* lines_ = nullptr;
  DirectoryHash hash_;
  std::vector<std::uint32_t> free_;  ///< entry numbers that were used before, a stack
  std::uint32_t used_ = 0;           ///< entry numbers from here on never were
  std::uint64_t size_ = 0;
};

}  // namespace kvtier
