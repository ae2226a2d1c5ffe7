#include "tests/support/store_restart.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kvtier::test {

void keep_pidfd(Store& store, const SimClient& client) {
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  ASSERT_TRUE(pidfd.is_open());
  store.session_keep_pidfd(client.session(), pidfd.get());
}

void resume_session(Store& store, SimClient& client) {
  const SessionGrant before = client.grant();
  const Result<SessionGrant> resumed =
      store.session_resume(before.session_id, before.secret, {.namespace_name = "main"});
  ASSERT_TRUE(resumed.is_ok()) << resumed.status().to_string();
  client.resume(store, resumed.value());
}

}  // namespace kvtier::test
