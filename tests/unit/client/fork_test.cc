// U-11: a forked child gets an error, or its own connection; never the parent's.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

/// Runs `in_child` in a fork and returns the wait status.
template <class F>
int in_child(F&& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadsAfterFork =
    false;  // "starting new threads after multi-threaded fork is not supported"
#else
constexpr bool kThreadsAfterFork = true;
#endif

void parent_goes_on(FakeDaemon& daemon, const TestClient& client) {
  EXPECT_EQ(client.first_byte(), 0x12);
  EXPECT_EQ(daemon.pinned_count(), 2U);
  EXPECT_EQ(kvc_ping(client.client, 0), KVC_OK);
  EXPECT_EQ(client.status().sessions_count, 1U);
  EXPECT_EQ(client.ready(keys_from(0, 2)), 2U);
}

class ClientFork : public testing::Test {
 protected:
  ClientFork() : client_(daemon_.path()) {
    client_.put(keys_from(0, 2), 0x12);
    EXPECT_EQ(client_.acquire(keys_from(0, 2)), 2U);
  }
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "AddressSanitizer's allocator may be locked in the child of a process with threads";
#endif
  }
  ~ClientFork() override {
    parent_goes_on(daemon_, client_);
    kvc_release(client_.lease);
  }
  FakeDaemon daemon_;
  TestClient client_;
};

TEST_F(ClientFork, U11_EveryCallOfTheChildSaysStale) {
  const int status = in_child([&] {
    const kvc_key key = key_of(0);
    std::size_t ready = 0;
    std::uint64_t blocks = 0;
    kvc_slot slot{};
    kvc_lease* lease = nullptr;
    kvc_space* space = nullptr;
    kvc_spec* spec = make_spec();
    kvc_client_status facts{};
    facts.struct_size = sizeof facts;
    kvc_client_stats stats{};
    stats.struct_size = sizeof stats;
    kvc_space_facts about{};
    about.struct_size = sizeof about;
    const std::uint32_t token = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    const int codes[] = {
        kvc_match(client_.space, &key, 1, nullptr, &ready),
        kvc_reserve(client_.space, &key, 1, nullptr, &slot),
        kvc_commit(client_.space, &slot, 1, 0, 0),
        kvc_abort(client_.space, &slot, 1, 0, 0),
        kvc_wait(client_.space, &key, 1, 0, nullptr, &ready),
        kvc_pin(client_.space, &key, 1, 1, 0, nullptr),
        kvc_unpin(client_.space, &key, 1, 0),
        kvc_invalidate(client_.space, 0, &blocks),
        kvc_invalidate_namespace(client_.client, 0, &blocks),
        kvc_ping(client_.client, 0),
        kvc_lease_create(client_.client, 1, &lease),
        kvc_space_register(client_.client, spec, 0, &space),
        kvc_acquire(client_.space, &key, 1, 0, 0, client_.lease),  // which is held
        kvc_commit_acquire(client_.space, &slot, 1, 0, client_.lease),
        kvc_restore(client_.space, &key, 1, 0, nullptr, &ready),
        kvc_space_info(client_.space, &about),
        kvc_space_part(client_.space, 0, &offset, &bytes),
        kvc_keys_from_tokens(client_.space, &token, 1, nullptr, 0, nullptr, nullptr, 0, &ready),
        kvc_status(client_.client, &facts),
        kvc_stats(client_.client, &stats)};
    for (std::size_t i = 0; i < std::size(codes); ++i) {
      if (codes[i] != KVC_STALE) ::_exit(static_cast<int>(i + 1));
    }
    const bool is_clear = std::string(kvc_last_error()).find("fork") != std::string::npos;
    ::_exit(is_clear ? 0 : 98);
  });
  EXPECT_EQ(status, 0) << "call " << WEXITSTATUS(status);
}

TEST_F(ClientFork, U11_ClosingInTheChildTouchesNothing) {
  EXPECT_EQ(in_child([&] {
              kvc_release(client_.lease);
              kvc_lease_destroy(client_.lease);
              kvc_space_close(client_.space);
              kvc_client_close(client_.client);
              ::_exit(0);
            }),
            0);
}

TEST_F(ClientFork, U11_TheChildMayOpenItsOwn) {
  if (!kThreadsAfterFork) GTEST_SKIP() << "ThreadSanitizer starts no thread in a forked child";
  EXPECT_EQ(in_child([&] {
              kvc_client* own = nullptr;
              if (open_client(daemon_.path(), &own, KVC_REQUIRE) != KVC_OK) ::_exit(1);
              if (kvc_ping(own, 0) != KVC_OK) ::_exit(2);
              // The parent's handle stays what it was.
              if (kvc_ping(client_.client, 0) != KVC_STALE) ::_exit(3);
              kvc_client_close(own);
              ::_exit(0);
            }),
            0);
}

TEST_F(ClientFork, U11_AGrandchildIsToldFromItsParentToo) {
  if (!kThreadsAfterFork) GTEST_SKIP() << "ThreadSanitizer starts no thread in a forked child";
  EXPECT_EQ(in_child([&] {
              kvc_client* own = nullptr;
              if (open_client(daemon_.path(), &own, KVC_REQUIRE) != KVC_OK) ::_exit(1);
              const int status = in_child([&] { ::_exit(kvc_ping(own, 0) == KVC_STALE ? 0 : 1); });
              ::_exit(status == 0 && kvc_ping(own, 0) == KVC_OK ? 0 : 2);
            }),
            0);
}

TEST_F(ClientFork, U11_EveryWayToDie) {
  EXPECT_EQ(in_child([] { ::_exit(0); }), 0);
  EXPECT_EQ(in_child([] { std::quick_exit(0); }), 0);
  const int aborted = in_child([] { ::raise(SIGKILL); });
  EXPECT_TRUE(WIFSIGNALED(aborted));
  // exit() runs the destructors and atexit handlers of this whole test program, as an engine's worker would.
  EXPECT_EQ(in_child([] { std::exit(0); }), 0);
}

TEST_F(ClientFork, U11_BlocksAreNotMappedInTheChild) {
  const void* block = kvc_lease_blocks(client_.lease)[0];
  const int status = in_child([&] {
    ::signal(SIGSEGV, SIG_DFL);
    [[maybe_unused]] const unsigned char byte = *static_cast<const volatile unsigned char*>(block);
    ::_exit(0);
  });
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_NE(status, 0);
#else
  EXPECT_TRUE(WIFSIGNALED(status));
#endif
}

}  // namespace
}  // namespace kvtier::test
