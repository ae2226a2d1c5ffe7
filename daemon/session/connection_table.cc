#include "daemon/session/connection_table.h"

#include <algorithm>
#include <utility>

#include "daemon/session/poller.h"

namespace kvtier {
namespace {

void erase_value(std::vector<std::uint32_t>& list, std::uint32_t value) {
  std::erase(list, value);
}

}  // namespace

ConnectionTable::ConnectionTable(std::uint32_t sessions_max, std::uint32_t strangers_max)
    : sessions_max_(sessions_max), strangers_max_(strangers_max), places_(sessions_max + strangers_max) {
  for (std::uint32_t i = 0; i < places_.size(); ++i)
    free_.push_back(static_cast<std::uint32_t>(places_.size()) - 1 - i);
  sessions_.reserve(sessions_max);
  strangers_.reserve(strangers_max);
}

std::uint32_t ConnectionTable::open(UniqueFd socket, Peer peer, TimeNs hello_deadline_ns) {
  if (free_.empty() || is_full_of_strangers()) return kNone;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Connection& place = places_[index];
  place.socket = std::move(socket);
  place.peer = std::move(peer);
  place.hello_deadline_ns = hello_deadline_ns;
  strangers_.push_back(index);
  return index;
}

void ConnectionTable::bind_session(std::uint32_t index, SessionIndex session) {
  const std::uint32_t at = kvtier::index_of(session);
  if (at >= by_session_.size()) by_session_.resize(at + 1, kNone);
  by_session_[at] = index;
  places_[index].session = session;
  erase_value(strangers_, index);
  sessions_.push_back(index);
}

void ConnectionTable::close(std::uint32_t index) {
  Connection& place = places_[index];
  if (place.session != SessionIndex::kNone) by_session_[kvtier::index_of(place.session)] = kNone;
  const std::uint32_t generation = (place.generation + 1) & kPollGenerationMask;
  place = Connection();
  place.generation = generation;
  erase_value(sessions_, index);
  erase_value(strangers_, index);
  free_.push_back(index);
}

Connection* ConnectionTable::find(std::uint32_t index, std::uint32_t generation) {
  if (index >= places_.size()) return nullptr;
  Connection& place = places_[index];
  return place.socket.is_open() && place.generation == generation ? &place : nullptr;
}

std::uint32_t ConnectionTable::index_of_session(SessionIndex session) const {
  const std::uint32_t at = kvtier::index_of(session);
  return at < by_session_.size() ? by_session_[at] : kNone;
}

}  // namespace kvtier
