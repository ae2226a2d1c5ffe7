#pragma once
// epoll with tokens: an event names its source, an index and the generation of what was registered, so that
// an event that outlives its connection within one batch is recognised as stale. Thread: the conductor's.

#include <array>
#include <cstdint>
#include <span>

#include "libkvclient/base/clock.h"
#include "libkvclient/base/result.h"
#include "libkvclient/base/unique_fd.h"

namespace kvtier {

enum class PollSource : std::uint8_t { kListener, kWake, kConnection, kDoorbell, kProcess };

/// What a token keeps of a generation.
inline constexpr std::uint32_t kPollGenerationMask = 0xffffff;

struct PollToken {
  PollSource source = PollSource::kListener;
  std::uint32_t index = 0;
  std::uint32_t generation = 0;

  [[nodiscard]] std::uint64_t bits() const;
  static PollToken from_bits(std::uint64_t bits);
};

struct PollEvent {
  PollToken token;
  std::uint32_t flags = 0;  ///< EPOLLIN, EPOLLHUP, ...
};

class Poller {
 public:
  static constexpr std::size_t kEventsMax = 64;

  static Result<Poller> create();

  Status add(int fd, std::uint32_t flags, PollToken token);
  Status modify(int fd, std::uint32_t flags, PollToken token);
  /// Before the descriptor is closed: a duplicate elsewhere would keep the registration alive.
  void remove(int fd);

  /// Blocks at most `timeout_ns` (0: not at all, kNever: until an event). The span lives until the next call.
  std::span<const PollEvent> wait(TimeNs timeout_ns);

 private:
  explicit Poller(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  Status control(int operation, int fd, std::uint32_t flags, PollToken token);

  UniqueFd epoll_;
  std::array<PollEvent, kEventsMax> events_{};
};

}  // namespace kvtier
