// What every call of the C contract refuses, and what it says then.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

bool says(const char* part) {
  return std::string(kvc_last_error()).find(part) != std::string::npos;
}

// A struct whose struct_size was forgotten: its fields would be passed over in silence.
TEST(ClientContract, AStructThatIsTooSmallIsRefused) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  for (const std::size_t size : {std::size_t{0}, std::size_t{8}, std::size_t{24}}) {
    const kvc_client_options options{.struct_size = size, .socket_path = daemon.path().c_str()};
    kvc_client* opened = nullptr;
    EXPECT_EQ(kvc_client_open(&options, &opened), KVC_INVALID);
    EXPECT_TRUE(says("kvc_client_open: struct_size is")) << kvc_last_error();
    EXPECT_EQ(opened, nullptr);
    kvc_client_status status{.struct_size = size};
    EXPECT_EQ(kvc_status(client.client, &status), KVC_INVALID);
    kvc_client_stats stats{.struct_size = size};
    EXPECT_EQ(kvc_stats(client.client, &stats), KVC_INVALID);
    kvc_space_facts facts{.struct_size = size};
    EXPECT_EQ(kvc_space_info(client.space, &facts), KVC_INVALID);
    const kvc_spec_options spec_options{.struct_size = size, .model = "m"};
    kvc_spec* spec = nullptr;
    EXPECT_EQ(kvc_spec_create(&spec_options, &spec), KVC_INVALID);
    spec = make_spec();
    const kvc_part part{.struct_size = size, .name = "swa"};
    EXPECT_EQ(kvc_spec_add_part(spec, &part), KVC_INVALID);
    const kvc_shard shard{.struct_size = size, .kv_head_count = 1};
    EXPECT_EQ(kvc_spec_set_shard(spec, &shard), KVC_INVALID);
    kvc_spec_destroy(spec);
    const kvc_key key = key_of(0);
    kvc_slot slot{};
    const kvc_reserve_options reserve{.struct_size = size, .parent = &key};
    EXPECT_EQ(kvc_reserve(client.space, &key, 1, &reserve, &slot), KVC_INVALID);
    EXPECT_EQ(slot.code, KVC_INVALID);
  }
  EXPECT_EQ(daemon.writing_count(), 0U);
}

TEST(ClientContract, SlotsSayThatTheCallWasRefused) {
  const kvc_key key = key_of(0);
  kvc_slot slot{};
  EXPECT_EQ(kvc_reserve(nullptr, &key, 1, nullptr, &slot), KVC_INVALID);
  EXPECT_EQ(slot.code, KVC_INVALID);
}

TEST(ClientContract, AStructOfALaterVersionIsTaken) {
  FakeDaemon daemon;
  struct {
    kvc_client_options options{};
    std::uint64_t later = 0;
  } longer;
  longer.options.struct_size = sizeof longer;
  longer.options.socket_path = daemon.path().c_str();
  longer.options.flags = KVC_REQUIRE;
  kvc_client* client = nullptr;
  ASSERT_EQ(kvc_client_open(&longer.options, &client), KVC_OK) << kvc_last_error();
  kvc_client_close(client);
}

TEST(ClientContract, FlagsThatACallDoesNotKnowAreRefused) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  const kvc_key key = key_of(0);
  std::vector<kvc_slot> slots = client.reserve({key});
  for (const std::uint32_t flags : {0x8000U, std::uint32_t{KVC_READ_ONLY}, ~0U}) {
    kvc_client* opened = nullptr;
    EXPECT_EQ(open_client(daemon.path(), &opened, flags | 0x8000U), KVC_INVALID);
    EXPECT_EQ(kvc_acquire(client.space, &key, 1, flags, 0, client.lease), KVC_INVALID);
    kvc_slot slot{};
    const kvc_reserve_options reserve{.struct_size = sizeof reserve, .flags = flags};
    EXPECT_EQ(kvc_reserve(client.space, &key, 1, &reserve, &slot), KVC_INVALID);
    EXPECT_TRUE(says("kvc_reserve: flags other than")) << kvc_last_error();
    EXPECT_EQ(slot.code, KVC_INVALID);
    EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, flags, 0), KVC_INVALID);
    EXPECT_EQ(kvc_abort(client.space, slots.data(), 1, flags, 0), KVC_INVALID);
  }
  EXPECT_NE(slots[0].data, nullptr);  // nothing was done with it
  EXPECT_EQ(kvc_commit(client.space, slots.data(), 1, KVC_WAIT, 0), KVC_OK);
}

TEST(ClientContract, ALeaseOfAnotherClientIsRefused) {
  FakeDaemon daemon;
  const TestClient first(daemon.path());
  const TestClient second(daemon.path());
  first.put(keys_from(0, 1));
  const kvc_key key = key_of(0);
  EXPECT_EQ(kvc_acquire(first.space, &key, 1, 0, 0, second.lease), KVC_INVALID);
  EXPECT_TRUE(says("another client")) << kvc_last_error();
  EXPECT_EQ(kvc_lease_held(second.lease), 0U);
  EXPECT_EQ(first.stats().leases_open, 0U);
  EXPECT_EQ(daemon.pinned_count(), 0U);
}

TEST(ClientContract, ACountBeyondMemoryIsAnErrorAndTheLeaseStaysGood) {
  FakeDaemon daemon;
  const TestClient client(daemon.path());
  client.put(keys_from(0, 1));
  kvc_lease* lease = nullptr;
  EXPECT_EQ(kvc_lease_create(client.client, std::size_t{1} << 60, &lease), KVC_INVALID);
  EXPECT_STREQ(kvc_last_error(), "a count is larger than any memory");
  EXPECT_EQ(lease, nullptr);
  const auto keys = keys_from(0, 1);
  EXPECT_EQ(kvc_acquire(client.space, keys.data(), std::size_t{1} << 60, 0, 0, client.lease), KVC_INVALID);
  EXPECT_EQ(client.acquire(keys), 1U);
}

}  // namespace
}  // namespace kvtier::test
