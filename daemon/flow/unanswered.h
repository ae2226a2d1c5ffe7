#pragma once
// Memory that was asked back and did not come: who has it. A stopped process answers nothing, and nobody else may
// write in its slabs until it does.

#include <vector>

#include "daemon/flow/state.h"

namespace kvtier {

/// How long a reservation waits for another client's answer. A healthy one's service thread answers in well under a
/// millisecond; one that does not answer in this time may be stopped. Together with what a busy machine makes the
/// threads of a call wait, it must stay well below the 50 ms that a client may notice of another's death.
inline constexpr TimeNs kAnswerPatienceNs = 10 * kNsPerMs;

/// Whom a reservation of this class that found no slot waits for in vain: a writer that was asked for its slab, or
/// hung up with it, or else a client that has not unmapped a slab on its way to this namespace. Null: nobody.
Session* unanswered_by(StoreState& state, const Tenant& tenant, std::uint32_t slot_class,
                       const Session& asking);

struct Unanswered {
  const Session* session = nullptr;
  std::uint32_t slabs = 0;
  TimeNs since_ns = 0;  ///< of the oldest question
};
/// Each connected session that has not answered, and was asked before `before_ns` or since then was the reason why a
/// reservation was refused: who is told that pid finds it in the health.
std::vector<Unanswered> unanswered_since(StoreState& state, TimeNs before_ns);

}  // namespace kvtier
