#include "tests/kill/kill_points.h"

#include <algorithm>
#include <array>

#include "libkvclient/base/check.h"

namespace kvtier::kill {
namespace {

struct Point {
  const char* name;
  std::uint32_t passes_max = 20;
  std::uint32_t rounds_max = 0;
};

// A process shakes hands once, maps a few slabs, and is asked for one now and then.
constexpr std::array kPoints = {Point{"client.handshake.connected", 1},
                                Point{"client.handshake.after_hello", 1},
                                Point{"client.handshake.after_welcome", 1},
                                Point{"client.slab_add.mapped", 4},
                                Point{"client.slab_revoke.protected", 2},
                                Point{"client.request.before_send"},
                                Point{"client.request.sent"},
                                Point{"client.reserve.answered"},
                                Point{"client.reserve.lent"},
                                Point{"client.stock.taken"},
                                Point{"client.finish.before_publish"},
                                Point{"client.finish.published"},
                                Point{"client.acquire.after_pin"},
                                Point{"client.acquire.leased"},
                                Point{"client.release.before"},
                                Point{"client.release.unpinned"},
                                Point{"client.close.before_goodbye", 1, 40}};

}  // namespace

KillPoints::Plan KillPoints::next(Prng& prng) {
  const auto is_asked_for = [this](const Point& each) { return only_.empty() || only_ == each.name; };
  KV_CHECK(std::ranges::any_of(kPoints, is_asked_for), "a point of the list is asked for");
  while (!is_asked_for(kPoints[turn_ % kPoints.size()])) ++turn_;
  const Point& point = kPoints[turn_++ % kPoints.size()];
  const std::uint64_t pass = 1 + prng.below(point.passes_max);
  return {.name = point.name,
          .environment = {"KVTIER_FAULTS=" + std::string(point.name) + "=crash@" + std::to_string(pass)},
          .rounds_max = point.rounds_max};
}

std::string KillPoints::never_fired() const {
  std::string names;
  for (const auto& [name, count] : missed_) {
    if (!fired_.contains(name)) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace kvtier::kill
