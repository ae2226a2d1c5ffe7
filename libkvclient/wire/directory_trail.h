#pragma once
// Where a look at the directory came across its keys, for the next look at the same ones: an engine matches a prompt
// and then acquires what was there. A trail is a guess. Each entry says itself whether it holds the key, so that an
// old trail costs time and nothing else; one of other keys is recognised before it costs any.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libkvclient/wire/directory.h"

namespace kvtier {

/// One thread's. Owns no memory; compares the directory's address, and never follows it.
class DirectoryTrail {
 public:
  static constexpr std::size_t kKeysMax = 512;  ///< what a longer look leaves out

  void begin(const void* directory) {
    directory_ = directory;
    count_ = 0;
  }
  /// Of the keys from `first` on: chunks come in order.
  void note(std::size_t first, std::span<const Key> keys, std::span<const DirectoryHash::Home> homes) {
    if (first != count_ || first + keys.size() > kKeysMax) return;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      words_[first + i] = keys[i].words[0];
      numbers_[first + i] = homes[i].hint;
    }
    count_ = first + keys.size();
  }

  /// Whether it is one of these keys; as good as certain, since keys are digests.
  [[nodiscard]] bool leads(const void* directory, std::span<const Key> keys) const {
    if (directory != directory_ || keys.size() > count_) return false;
    std::uint64_t difference = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) difference |= keys[i].words[0] ^ words_[i];
    return difference == 0;
  }
  [[nodiscard]] std::uint32_t number(std::size_t i) const { return numbers_[i]; }

 private:
  const void* directory_ = nullptr;
  std::size_t count_ = 0;
  std::array<std::uint64_t, kKeysMax> words_;
  std::array<std::uint32_t, kKeysMax> numbers_;
};

}  // namespace kvtier
