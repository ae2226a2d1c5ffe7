#include "tools/kvsim/longcontext_transfers.h"

#include <algorithm>

#include "libkvclient/base/check.h"

namespace kvtier::sim {
namespace {

constexpr std::uint32_t kPcie = 0;

}  // namespace

Transfers::Transfers(const TransferRates& rates) : rates_(rates) {
  links_.push_back({.rates = rates.pcie});
  for (std::uint32_t i = 0; i < rates.nvme_devices; ++i) links_.push_back({.rates = rates.nvme_device});
}

MoveId Transfers::new_id() {
  if (void_ids_.empty()) {
    moves_.emplace_back();
    return static_cast<MoveId>(moves_.size() - 1);
  }
  const MoveId id = void_ids_.back();
  void_ids_.pop_back();
  return id;
}

void Transfers::void_id(MoveId id) {
  moves_[id].state = State::kVoid;
  if (moves_[id].queued == 0) void_ids_.push_back(id);
}

MoveId Transfers::start(Picoseconds now_ps, const Move& move) {
  KV_CHECK(now_ps >= now_ps_, "time goes back");
  while (!events_.empty() && events_.top().at_ps <= now_ps) {
    const Event event = events_.top();
    events_.pop();
    if (const auto arrival = handle(event)) early_.push_back(*arrival);
  }
  now_ps_ = now_ps;
  const MoveId id = new_id();
  moves_[id] = {.move = move};
  enqueue(id, move.device == kFromHost ? kPcie : 1 + move.device, now_ps);
  return id;
}

void Transfers::enqueue(MoveId id, std::uint32_t link, Picoseconds now_ps) {
  Record& record = moves_[id];
  record.link = link;
  record.state = State::kWaiting;
  ++record.queued;
  (record.move.is_demand ? links_[link].demands : links_[link].prefetches).push_back(id);
  if (!links_[link].is_busy) serve_next(link, now_ps);
}

// In both queues from now on; the first that comes up serves it.
void Transfers::raise(MoveId id) {
  Record& record = moves_[id];
  if (record.move.is_demand) return;
  record.move.is_demand = true;
  if (record.state != State::kWaiting) return;
  ++record.queued;
  links_[record.link].demands.push_back(id);
}

bool Transfers::cancel(MoveId id) {
  if (moves_[id].has_begun) return false;
  moves_[id].state = State::kCancelled;
  return true;
}

// A move that was raised has left its other entry behind, and may wait at the next link when that comes up.
MoveId Transfers::take_waiting(std::deque<MoveId>& queue, std::uint32_t link) {
  while (!queue.empty()) {
    const MoveId id = queue.front();
    queue.pop_front();
    Record& record = moves_[id];
    --record.queued;
    if (record.state == State::kWaiting && record.link == link) return id;
    if (record.state == State::kCancelled || record.state == State::kVoid) void_id(id);
  }
  return kNoMove;
}

void Transfers::serve_next(std::uint32_t link, Picoseconds now_ps) {
  Link& at = links_[link];
  MoveId id = take_waiting(at.demands, link);
  if (id == kNoMove) id = take_waiting(at.prefetches, link);
  at.is_busy = id != kNoMove;
  if (id == kNoMove) return;
  Record& record = moves_[id];
  record.state = State::kServed;
  record.has_begun = true;
  const std::uint64_t bytes = record.move.count * rates_.page_bytes;
  (link == kPcie ? pcie_bytes_ : nvme_bytes_) += bytes;
  const Picoseconds busy_ps = ps_for(static_cast<double>(bytes), at.rates.bytes_per_s);
  const Picoseconds end_ps = now_ps + std::max(busy_ps, at.rates.per_move_ps);
  push(end_ps, EventKind::kLinkFree, link, id);
  push(end_ps + at.rates.latency_ps, EventKind::kAtEnd, link, id);
}

void Transfers::push(Picoseconds at_ps, EventKind kind, std::uint32_t link, MoveId move) {
  events_.push({.at_ps = at_ps, .order = events_pushed_++, .kind = kind, .link = link, .move = move});
}

std::optional<Transfers::Arrival> Transfers::handle(const Event& event) {
  now_ps_ = event.at_ps;
  if (event.kind == EventKind::kLinkFree) {
    serve_next(event.link, event.at_ps);
    return std::nullopt;
  }
  if (event.link != kPcie) {
    enqueue(event.move, kPcie, event.at_ps);
    return std::nullopt;
  }
  const Move move = moves_[event.move].move;
  void_id(event.move);
  return Arrival{event.at_ps, move};
}

std::optional<Transfers::Arrival> Transfers::next_arrival(Picoseconds until_ps) {
  if (!early_.empty() && early_.front().at_ps <= until_ps) {
    const Arrival arrival = early_.front();
    early_.pop_front();
    return arrival;
  }
  while (!events_.empty() && events_.top().at_ps <= until_ps) {
    const Event event = events_.top();
    events_.pop();
    if (const auto arrival = handle(event)) return arrival;
  }
  return std::nullopt;
}

}  // namespace kvtier::sim
