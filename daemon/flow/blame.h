#pragma once
// A reservation found no room: whose doing it is. Called once the search is over; decides nothing but the words.

#include <vector>

#include "daemon/flow/slots.h"

namespace kvtier {

/// Gives an outcome that is short of slots the truest cause, and the pid of whom it names. Remembers that this one was
/// the reason, for the complaints.
void blame(StoreState& state, const SlotRequest& request, SlotOutcome& outcome);

/// A session whose open reservations left others without room, and that has ended none of the newest of then since.
struct Hoarder {
  const Session* session = nullptr;
  std::uint64_t blocks = 0;  ///< reserved now
  TimeNs since_ns = 0;       ///< of the first refusal for the sake of these
};
std::vector<Hoarder> blame_hoarders(StoreState& state);

}  // namespace kvtier
