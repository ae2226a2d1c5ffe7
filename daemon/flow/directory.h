#pragma once
// The directory of a namespace as the store keeps it: the memory that clients read and, while it grows, the larger
// one that is to follow. Every change goes to both; clients read the old one, which is complete until the end.
// How growth goes: README.md. Thread: the conductor.

#include <cstdint>
#include <memory>

#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"
#include "libkvclient/wire/directory_writer.h"
#include "libkvclient/wire/shm_segment.h"

namespace kvtier {

struct DirectoryMemory {
  UniqueFd fd;
  UniqueFd read_fd;
  ShmMapping mapping;
  DirectoryWriter writer;
  std::uint64_t bytes_huge = 0;
};

class Directory {
 public:
  /// What one step of growth does: so many entries looked at, or that many bytes of pages reserved.
  static constexpr std::uint32_t kStepEntries = 1024;
  static constexpr std::uint64_t kStepBytes = kHugePageBytes;

  Directory() = default;
  static Result<Directory> create(std::uint64_t capacity, std::uint64_t seed);
  /// Of an earlier daemon: emptied.
  static Result<Directory> adopt(UniqueFd fd);

  [[nodiscard]] Code insert(const EntryView& entry);
  [[nodiscard]] Code update(SpaceId space, const Key& key, const Residency& at);
  [[nodiscard]] Code remove(SpaceId space, const Key& key);
  [[nodiscard]] bool find(SpaceId space, const Key& key, Residency& at) const {
    return now_.writer.find(space, key, at);
  }
  [[nodiscard]] std::uint64_t size() const { return now_.writer.size(); }
  [[nodiscard]] std::uint64_t capacity() const { return now_.writer.capacity(); }
  [[nodiscard]] std::uint64_t room() const { return capacity() - size(); }
  /// What clients map.
  [[nodiscard]] int read_fd() const { return now_.read_fd.get(); }
  [[nodiscard]] std::uint64_t bytes() const { return now_.mapping.size(); }
  /// Of these, in huge pages: a look-up among a million blocks is a tenth faster for it.
  [[nodiscard]] std::uint64_t bytes_huge() const { return now_.bytes_huge; }
  /// Of both.
  [[nodiscard]] std::uint64_t bytes_reserved() const;

  [[nodiscard]] bool is_growing() const { return growth_ != nullptr; }
  /// That of the larger one while there is one.
  [[nodiscard]] std::uint64_t capacity_to_come() const;
  Status begin_growth(std::uint64_t capacity, std::uint64_t seed);
  /// One step. False: more are left. A failure leaves the growth as it was.
  Result<bool> grow_some();
  /// What is left to do, a step being kStepEntries.
  [[nodiscard]] std::uint64_t growth_left() const;
  /// After grow_some said true: what the next instance is to adopt.
  [[nodiscard]] int fd() const { return growth_ ? growth_->larger.fd.get() : now_.fd.get(); }
  /// The larger one takes over; readers of the old one are told.
  void finish_growth();
  void drop_growth() { growth_.reset(); }

 private:
  struct Growth {
    DirectoryMemory larger;
    std::uint64_t capacity = 0;
    std::uint64_t seed = 0;
    std::uint64_t bytes_reserved = 0;
    bool is_formatted = false;   ///< then it takes every change
    std::uint32_t copied = 0;    ///< entries of the old one, by number
    std::uint32_t copy_end = 0;  ///< those used for the first time after the formatting are in both
  };
  Result<bool> copy_some();

  DirectoryMemory now_;
  std::unique_ptr<Growth> growth_;
};

}  // namespace kvtier
