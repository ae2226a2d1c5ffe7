#include "daemon/session/submissions.h"

#include <array>

namespace kvtier {

bool take_submissions(Connection& connection, Store& store, std::size_t& count) {
  std::array<Submission, kSubmissionBatch> batch;
  if (!connection.rings->pop(batch, count)) return false;
  for (std::size_t i = 0; i < count; ++i) store.submit(connection.session, batch[i]);
  return true;
}

void take_last_submissions(Connection& connection, Store& store) {
  std::size_t count = 0;
  for (std::size_t taken = 0; taken < kSubmissionEntries; taken += count) {
    if (!take_submissions(connection, store, count) || count == 0) return;
  }
}

}  // namespace kvtier
