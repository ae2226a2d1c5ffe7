#pragma once
// Where a look at the directory came across its keys, for the next look at the same ones: an engine matches a prompt
// and then acquires what was there. A trail is a guess. Each entry says itself whether it holds the key, so that an
// old trail, or one of other keys, costs time and nothing else.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/wire/directory.h"

namespace kvtier {

/// One thread's. Owns no memory; compares addresses of keys and directory, and never follows them.
class DirectoryTrail {
 public:
  static constexpr std::size_t kKeysMax = 512;  ///< a longer look leaves no trail

  void begin(const void* directory, std::span<const Key> keys) {
    directory_ = directory;
    keys_ = keys.data();
    count_ = keys.size() <= kKeysMax ? keys.size() : 0;
    // What an early end leaves out.
    std::fill_n(numbers_.begin(), count_, DirectoryHash::kNoHint);
  }
  void note(std::size_t first, std::span<const DirectoryHash::Home> homes) {
    if (first + homes.size() > count_) return;
    for (std::size_t i = 0; i < homes.size(); ++i) numbers_[first + i] = homes[i].hint;
  }

  [[nodiscard]] bool leads(const void* directory, std::span<const Key> keys) const {
    return directory == directory_ && keys.data() == keys_ && keys.size() <= count_;
  }
  [[nodiscard]] std::uint32_t number(std::size_t i) const { return numbers_[i]; }

 private:
  const void* directory_ = nullptr;
  const Key* keys_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint32_t, kKeysMax> numbers_;
};

}  // namespace kvtier
