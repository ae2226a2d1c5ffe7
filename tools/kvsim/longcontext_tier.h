#pragma once
// What stays in the memory of one tier: a block table and an evictor, both the daemon's. A page is one block. Copies
// below it stay, so that a page that leaves costs no transfer.

#include <functional>
#include <memory>

#include "tools/kvsim/policies.h"
#include "tools/kvsim/residents.h"

namespace kvtier::sim {

class Tier {
 public:
  /// Room for `capacity` of `pages` pages.
  Tier(const Policy& policy, std::uint32_t capacity, std::uint32_t pages);

  [[nodiscard]] bool has(BlockNumber page) const { return residents_.find(page) != BlockId::kNone; }
  /// It is there, and was used.
  void use(BlockNumber page, std::uint32_t now_ms);
  /// It is not there. False when there is no room: of the coldest few `can_leave` wants to keep each.
  bool insert(BlockNumber page, std::uint32_t now_ms, const std::function<bool(BlockNumber)>& can_leave);
  void remove(BlockNumber page);

 private:
  bool make_room(const std::function<bool(BlockNumber)>& can_leave);

  Residents residents_;
  std::unique_ptr<Evictor> evictor_;
};

}  // namespace kvtier::sim
