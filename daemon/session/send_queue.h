#pragma once
// Control messages on their way to one client. A slab is named, not carried: its descriptors are asked of the
// store when its turn comes. Bounded: a client that does not read costs this much and then loses its session.

#include <cstddef>
#include <deque>
#include <vector>

#include "daemon/flow/store.h"
#include "daemon/model/ids.h"
#include "libkvclient/wire/control.h"

namespace kvtier {

class SendQueue {
 public:
  /// A slab is announced, revoked and removed once at most while the client owes an answer.
  static constexpr std::size_t kMessagesMax = 65536;
  /// Replies that may wait before we stop reading further requests.
  static constexpr std::size_t kBacklogMax = 32;

  /// False: full.
  bool add_slab(SlabIndex slab);
  /// Whatever the directory is when its turn comes.
  bool add_directory();
  bool add_refused(std::uint32_t sequence, const Status& why);
  template <class T>
  bool add(const T& message) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&message);
    return add_bytes({bytes, bytes + sizeof message});
  }

  /// Sends what the socket takes. kBusy: more is waiting; kUnavailable, kSystem: the client cannot be
  /// reached.
  Status flush(int socket, Store& store, SessionIndex session);
  [[nodiscard]] bool is_empty() const { return waiting_.empty(); }
  [[nodiscard]] bool holds_back() const { return waiting_.size() >= kBacklogMax; }

 private:
  enum class Kind : std::uint8_t { kBytes, kSlab, kDirectory };
  struct Waiting {
    Kind kind = Kind::kBytes;
    std::vector<std::byte> bytes;
    SlabIndex slab = SlabIndex::kNone;
  };
  bool add_bytes(std::vector<std::byte> bytes);
  bool append(Waiting waiting);
  static Status send(const Waiting& next, int socket, Store& store, SessionIndex session);

  std::deque<Waiting> waiting_;
};

}  // namespace kvtier
