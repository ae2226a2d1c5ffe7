// KVC_VERIFY over the real store.

#include <cstring>

#include "tests/unit/client/client_fixture.h"
#include "tests/unit/client/real_daemon.h"

namespace kvtier::test {
namespace {

/// Blocks that are ready, and their writer's pointers, which write until the slab is another's.
std::vector<unsigned char*> put_and_keep(const TestClient& writer, const std::vector<kvc_key>& keys) {
  std::vector<kvc_slot> slots = writer.reserve(keys);
  std::vector<unsigned char*> data;
  for (const kvc_slot& slot : slots) {
    std::memset(slot.data, 0x33, 4096);
    data.push_back(static_cast<unsigned char*>(slot.data));
  }
  EXPECT_EQ(kvc_commit(writer.space, slots.data(), slots.size(), KVC_WAIT, 0), KVC_OK);
  return data;
}

TEST(ClientVerifyReal, ABlockWithoutASumIsVerifiedWithinTheCall) {
  RealDaemon daemon;
  const TestClient client(daemon.path());
  const auto keys = keys_from(0, 64);
  client.put(keys);
  EXPECT_EQ(client.acquire(keys, KVC_VERIFY), 64U);
  EXPECT_EQ(daemon.sums_count(), 64U) << "a second was not waited for";
  EXPECT_EQ(client.stats().requests_late, 0U);
}

TEST(ClientVerifyReal, ABlockThatItsWriterScribblesIntoIsAMissForAllOnceOneVerified) {
  RealDaemon daemon;
  const TestClient writer(daemon.path());
  const auto keys = keys_from(0, 8);
  const std::vector<unsigned char*> data = put_and_keep(writer, keys);
  const TestClient reader(daemon.path());
  wait_until([&] { return reader.acquire(keys) == 8 || (kvc_release(reader.lease), false); });
  kvc_release(reader.lease);
  EXPECT_EQ(reader.acquire(keys, KVC_VERIFY), 8U);
  kvc_release(reader.lease);
  data[3][100] ^= 1;
  EXPECT_EQ(reader.acquire(keys), 8U) << "who does not verify does not notice";
  kvc_release(reader.lease);
  EXPECT_EQ(reader.ready(keys), 8U);
  EXPECT_EQ(reader.acquire(keys, KVC_VERIFY), 3U);
  EXPECT_EQ(reader.stats().acquire_corrupt, 1U);
  EXPECT_EQ(reader.ready(keys), 3U) << "the daemon looked, and took it out, before the call returned";
  kvc_release(reader.lease);
  EXPECT_EQ(reader.acquire(keys, KVC_VERIFY | KVC_UNORDERED), 7U);
  kvc_release(reader.lease);
  writer.put({keys[3]}, 0x44);
  EXPECT_EQ(reader.ready(keys), 8U);
  EXPECT_EQ(reader.acquire(keys, KVC_VERIFY), 8U) << "computed anew";
}

}  // namespace
}  // namespace kvtier::test
