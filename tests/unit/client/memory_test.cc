// Memory that runs out inside a call: the call says so. No exception leaves the C contract, and afterwards the
// same call works. operator new of the whole program fails here, on the calling thread, when it is told to.

#include <cstdlib>
#include <functional>
#include <new>

#include "tests/unit/client/client_fixture.h"

namespace {

/// How many allocations of this thread are left before one fails; negative: none fails.
thread_local int allocations_left = -1;
thread_local bool has_failed = false;

void* allocate(std::size_t bytes) {
  if (allocations_left == 0) {
    has_failed = true;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace kvtier::test {
namespace {

constexpr int kAllocationsMax = 1000;

/// Fails the first allocation of the call, then only the second, and so on until it passes without one. How
/// often it failed.
int fail_each_allocation(const std::function<int()>& call) {
  for (int left = 0; left < kAllocationsMax; ++left) {
    has_failed = false;
    allocations_left = left;
    const int code = call();
    allocations_left = -1;
    if (code == KVC_OK && !has_failed) return left;
    EXPECT_EQ(code, KVC_SYSTEM);
    EXPECT_STREQ(kvc_last_error(), "out of memory");
  }
  ADD_FAILURE() << "it never passes";
  return -1;
}

TEST(ClientMemory, EveryAllocationOfASpecAndASpaceMayFail) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  kvc_spec_options options{.struct_size = sizeof options};
  options.model = options.revision = options.tokenizer = "longer than a string that needs no memory";
  options.block_tokens = 16;
  kvc_spec* spec = nullptr;
  EXPECT_GT(fail_each_allocation([&] { return kvc_spec_create(&options, &spec); }), 0);
  kvc_part part{.struct_size = sizeof part, .name = "a name of a part, longer than the rest", .bytes = 64};
  part.layer_count = 1;
  part.dtype = "f16";
  part.layout = "flat";
  EXPECT_GT(fail_each_allocation([&] { return kvc_spec_add_part(spec, &part); }), 0);
  EXPECT_GT(fail_each_allocation([&] { return kvc_spec_set_rope(spec, "theta", "10000"); }), 0);
  EXPECT_GT(fail_each_allocation([&] { return kvc_spec_set_extra(spec, "engine", "test"); }), 0);
  EXPECT_GT(fail_each_allocation([&] { return kvc_spec_check(spec); }), 0);
  kvc_space* space = nullptr;
  EXPECT_GT(fail_each_allocation([&] { return kvc_space_register(client.client, spec, 0, &space); }), 0);
  kvc_space_close(space);
  kvc_spec_destroy(spec);
}

TEST(ClientMemory, EveryAllocationOfReadingMayFail) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 3));
  kvc_lease* lease = nullptr;
  EXPECT_GT(fail_each_allocation([&] { return kvc_lease_create(client.client, 1, &lease); }), 0);
  const auto keys = keys_from(0, 3);
  const auto acquire = [&] { return kvc_acquire(client.space, keys.data(), 3, 0, 0, lease); };
  EXPECT_GT(fail_each_allocation(acquire), 0);  // the lease grows
  EXPECT_EQ(kvc_lease_held(lease), 3U);
  kvc_release(lease);
  const auto verified = [&] {
    EXPECT_EQ(kvc_lease_held(lease), 0U) << "a call that fails has done nothing";
    return kvc_acquire(client.space, keys.data(), 3, KVC_VERIFY, 0, lease);
  };
  EXPECT_GT(fail_each_allocation(verified), 0);
  EXPECT_EQ(kvc_lease_held(lease), 3U);
  EXPECT_EQ(client.stats().leases_open, 1U);
  kvc_lease_destroy(lease);
  std::size_t ready = 0;
  const auto wait = [&] { return kvc_wait(client.space, keys.data(), 3, 0, nullptr, &ready); };
  EXPECT_GT(fail_each_allocation(wait), 0);
  EXPECT_EQ(ready, 3U);
}

TEST(ClientMemory, EveryAllocationOfWritingMayFail) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 9);
  std::vector<kvc_slot> slots(keys.size());
  const auto reserve = [&] { return kvc_reserve(client.space, keys.data(), 9, nullptr, slots.data()); };
  EXPECT_GT(fail_each_allocation(reserve), 0);
  for (const kvc_slot& slot : slots) EXPECT_EQ(slot.code, KVC_OK);
  const auto commit = [&] { return kvc_commit(client.space, slots.data(), slots.size(), KVC_WAIT, 0); };
  EXPECT_EQ(fail_each_allocation(commit), 0) << "a commit takes no memory";
  EXPECT_EQ(client.ready(keys), 9U);
  EXPECT_EQ(client.stats().reservations_open, 0U);
}

TEST(ClientMemory, WritingFromTheStockTakesNoMemory) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  kvc_reserve_options options{.struct_size = sizeof options, .flags = KVC_NO_CLAIM};
  const auto keys = keys_from(0, 6);
  std::vector<kvc_slot> slots(keys.size());
  const auto reserve = [&] { return kvc_reserve(client.space, keys.data(), 6, &options, slots.data()); };
  const auto commit = [&] { return kvc_commit(client.space, slots.data(), slots.size(), 0, 0); };
  EXPECT_GT(fail_each_allocation(reserve), 0) << "the first is an ordinary call";
  EXPECT_EQ(kvc_abort(client.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
  wait_until([&] { return daemon.refills() > 0; });
  EXPECT_EQ(fail_each_allocation(reserve), 0);
  EXPECT_EQ(client.stats().reserve_stocked, 6U);
  EXPECT_EQ(fail_each_allocation(commit), 0);
  wait_until([&] { return client.ready(keys) == 6; });
}

TEST(ClientMemory, AClientThatCannotBeMadeLeavesNothingBehind) {
  FakeDaemon daemon;
  kvc_client* client = nullptr;
  EXPECT_GT(fail_each_allocation([&] { return open_client(daemon.path(), &client, KVC_REQUIRE); }), 0);
  kvc_client_close(client);
  wait_until([&] { return daemon.goodbyes() == daemon.hellos(); });
}

}  // namespace
}  // namespace kvtier::test
