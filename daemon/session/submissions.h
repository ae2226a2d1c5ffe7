#pragma once
// Hands copies of a client's submissions to the store: in turns while it is connected, and what is left in
// the ring when it hangs up or exits, since a commit needs no answer and may be a client's last word.

#include <cstddef>

#include "daemon/flow/store.h"
#include "daemon/session/connection.h"

namespace kvtier {

inline constexpr std::size_t kSubmissionBatch = 32;

/// At most kSubmissionBatch. False: the client broke its cursor.
bool take_submissions(Connection& connection, Store& store, std::size_t& count);

/// All that the ring holds now; at most its length.
void take_last_submissions(Connection& connection, Store& store);

}  // namespace kvtier
