#pragma once
// Which pages of the request arena are in use. Lives in private memory: nothing in the channel is believed.

#include <array>
#include <cstdint>
#include <optional>

#include "libkvclient/base/units.h"
#include "libkvclient/wire/limits.h"

namespace kvtier::client {

class Arena {
 public:
  /// Offset of the first gap that is long enough; none: wait for an answer that frees one. bytes > 0.
  std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t used_bytes() const { return used_pages_ * kPageBytes; }

 private:
  static constexpr std::size_t kPages = kArenaBytes / kPageBytes;

  std::array<bool, kPages> is_used_ = {};
  std::uint64_t used_pages_ = 0;
};

}  // namespace kvtier::client
