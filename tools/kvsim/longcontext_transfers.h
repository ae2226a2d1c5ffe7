#pragma once
// Pages on their way to the GPU: from an NVMe device into host memory, from host memory over PCIe. Each link serves one
// move at a time, demand before prefetch, in order of arrival, and does not interrupt a move. A discrete-event simulation
// in virtual time; the caller moves the time on.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "tools/kvsim/longcontext_model.h"

namespace kvtier::sim {

/// A page of a layer of a sequence: dense numbers, those of one layer side by side.
using PageNumber = std::uint32_t;

struct LinkRates {
  double bytes_per_s = 0;
  Picoseconds per_move_ps = 0;  ///< a move occupies the link for no less
  Picoseconds latency_ps = 0;   ///< from the end of a move to its arrival; the link is free meanwhile
};

struct TransferRates {
  /// Default: the row's 55 GB/s. 0.5 us of submission a descriptor (vLLM issue 42212); 6 us for the first of a batch
  /// (5 to 7 us: DualPath, arXiv 2602.21548).
  LinkRates pcie = {55e9, kPsPerUs / 2, 6 * kPsPerUs};
  /// Default: the row's 7 GB/s; 92 us to the first byte (Micron 9200 data sheet: 92 to 150 us at queue depth 1).
  LinkRates nvme_device = {7e9, 0, 92 * kPsPerUs};
  std::uint32_t nvme_devices = 4;
  std::uint64_t page_bytes = 65536;
};

using MoveId = std::uint32_t;
constexpr MoveId kNoMove = UINT32_MAX;
constexpr std::uint32_t kFromHost = UINT32_MAX;

/// Neighbours that travel as one.
struct Move {
  PageNumber first = 0;
  std::uint32_t count = 1;
  std::uint32_t device = kFromHost;  ///< or the NVMe device they are read from
  bool is_demand = true;
};

class Transfers {
 public:
  explicit Transfers(const TransferRates& rates);

  /// `now_ps` never goes back.
  MoveId start(Picoseconds now_ps, const Move& move);
  /// A prefetch is needed now: from here on it is a demand.
  void raise(MoveId id);
  /// False when a link has begun to serve it: it will arrive. Else it never does, and its id is void.
  bool cancel(MoveId id);
  /// Valid until it is handed out or cancelled.
  [[nodiscard]] const Move& operator[](MoveId id) const { return moves_[id].move; }

  struct Arrival {
    Picoseconds at_ps;
    Move move;
  };
  /// The next one that arrives at `until_ps` or before, in order of time; its id is void from now on.
  std::optional<Arrival> next_arrival(Picoseconds until_ps = UINT64_MAX);

  [[nodiscard]] std::uint64_t pcie_bytes() const { return pcie_bytes_; }
  [[nodiscard]] std::uint64_t nvme_bytes() const { return nvme_bytes_; }

 private:
  struct Link {
    LinkRates rates;
    std::deque<MoveId> demands;
    std::deque<MoveId> prefetches;
    bool is_busy = false;
  };
  enum class State : std::uint8_t { kVoid, kWaiting, kServed, kCancelled };
  struct Record {
    Move move;
    std::uint32_t link = 0;
    std::uint32_t queued = 0;  ///< entries in queues: a void id is reused when none is left
    State state = State::kVoid;
    bool has_begun = false;
  };
  enum class EventKind : std::uint8_t { kLinkFree, kAtEnd };
  struct Event {
    Picoseconds at_ps;
    std::uint64_t order;
    EventKind kind;
    std::uint32_t link;
    MoveId move;
    bool operator>(const Event& other) const {
      return at_ps != other.at_ps ? at_ps > other.at_ps : order > other.order;
    }
  };

  MoveId new_id();
  void void_id(MoveId id);
  void enqueue(MoveId id, std::uint32_t link, Picoseconds now_ps);
  void serve_next(std::uint32_t link, Picoseconds now_ps);
  MoveId take_waiting(std::deque<MoveId>& queue, std::uint32_t link);
  void push(Picoseconds at_ps, EventKind kind, std::uint32_t link, MoveId move);
  /// The move when it is at its end.
  std::optional<Arrival> handle(const Event& event);

  TransferRates rates_;
  std::vector<Link> links_;  // PCIe, then the NVMe devices
  std::vector<Record> moves_;
  std::vector<MoveId> void_ids_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t events_pushed_ = 0;
  Picoseconds now_ps_ = 0;
  std::deque<Arrival> early_;  // arrived while start() caught up with the time
  std::uint64_t pcie_bytes_ = 0;
  std::uint64_t nvme_bytes_ = 0;
};

}  // namespace kvtier::sim
