// kvc_restore: what is on disk comes back before the call ends, each block once, or is a miss.

#include "tests/unit/client/client_fixture.h"

namespace kvtier::test {
namespace {

class ClientRestore : public ::testing::Test {
 protected:
  ClientRestore() { client_.put(keys_, 0x31); }

  void cool(std::size_t first, std::size_t end) {
    daemon_.with_store([&](FakeStore& store) {
      for (std::size_t i = first; i < end; ++i) store.cool(SpaceId{1}, wire_key_of(i));
    });
  }
  int restore(std::uint64_t deadline_ns = 60'000 * kMs) {
    states_.assign(keys_.size(), 9);
    return kvc_restore(client_.space, keys_.data(), keys_.size(), deadline_ns, states_.data(), &ready_);
  }
  std::uint64_t asked() {
    return daemon_.with_store([](const FakeStore& store) { return store.restores_asked; });
  }

  FakeDaemon daemon_;
  const TestClient client_{daemon_.path()};
  const std::vector<kvc_key> keys_ = keys_from(0, 4);
  std::vector<std::uint8_t> states_;
  std::size_t ready_ = 9;
};

TEST_F(ClientRestore, AMatchTellsWhatIsOnDiskOnly) {
  cool(1, 3);
  states_.assign(4, 9);
  EXPECT_EQ(kvc_match(client_.space, keys_.data(), 4, states_.data(), &ready_), KVC_OK);
  EXPECT_EQ(states_, (std::vector<std::uint8_t>{KVC_READY, KVC_STATE_ON_DISK, KVC_STATE_ON_DISK, KVC_READY}));
  EXPECT_EQ(ready_, 1U);
  EXPECT_EQ(client_.acquire(keys_), 1U) << "a lease takes what is in memory";
  kvc_release(client_.lease);
}

TEST_F(ClientRestore, BringsBackWhatItWas) {
  cool(1, 4);
  EXPECT_EQ(restore(), KVC_OK) << kvc_last_error();
  EXPECT_EQ(ready_, 4U);
  EXPECT_EQ(states_, std::vector<std::uint8_t>(4, KVC_READY));
  EXPECT_EQ(asked(), 3U) << "only what is on disk";
  ASSERT_EQ(client_.acquire(keys_), 4U);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<const unsigned char*>(kvc_lease_blocks(client_.lease)[i])[17], 0x31);
  }
  kvc_release(client_.lease);
}

TEST_F(ClientRestore, WithNothingOnDiskAsksNobody) {
  const std::uint64_t before = client_.stats().requests;
  EXPECT_EQ(restore(), KVC_OK);
  EXPECT_EQ(ready_, 4U);
  EXPECT_EQ(client_.stats().requests, before);
}

TEST_F(ClientRestore, WaitsForTheReadsOfOthersToo) {
  cool(0, 4);
  daemon_.change({.holds_restores = true});
  std::thread disk([&] {
    wait_until([&] { return asked() == 4; });
    daemon_.with_store([](FakeStore& store) { store.end_restores(true); });
  });
  EXPECT_EQ(restore(), KVC_OK);
  EXPECT_EQ(ready_, 4U);
  disk.join();
}

TEST_F(ClientRestore, EndsAtTheDeadlineWhileTheDiskHangs) {
  cool(2, 4);
  daemon_.change({.holds_restores = true});
  EXPECT_EQ(restore(20 * kMs), KVC_DEADLINE);
  EXPECT_EQ(ready_, 2U);
  EXPECT_EQ(states_, (std::vector<std::uint8_t>{KVC_READY, KVC_READY, KVC_STATE_PENDING, KVC_STATE_PENDING}));
}

TEST_F(ClientRestore, ABlockThatIsNotWhatItWasIsMissing) {
  cool(3, 4);
  daemon_.change({.holds_restores = true});
  std::thread disk([&] {
    wait_until([&] { return asked() == 1; });
    daemon_.with_store([](FakeStore& store) { store.end_restores(false); });
  });
  EXPECT_EQ(restore(), KVC_OK);
  EXPECT_EQ(ready_, 3U);
  EXPECT_EQ(states_[3], KVC_MISSING);
  disk.join();
}

TEST_F(ClientRestore, SaysThatThereWasNoRoomAndBringsWhatFitted) {
  cool(1, 4);
  daemon_.with_store([](FakeStore& store) {
    store.usable_slabs = 1;
    store.slots_limit = 2;  // key 0 has one
  });
  EXPECT_EQ(restore(), KVC_NO_SPACE);
  EXPECT_NE(std::string(kvc_last_error()).find("kvc_restore: no room"), std::string::npos)
      << kvc_last_error();
  EXPECT_EQ(ready_, 2U);
  EXPECT_EQ(states_[1], KVC_READY);
  EXPECT_EQ(states_[2], KVC_STATE_ON_DISK);
}

TEST_F(ClientRestore, AnAbsentDaemonIsAMissAtOnce) {
  daemon_.stop(false);
  wait_until([&] { return !client_.is_connected(); });
  EXPECT_EQ(restore(), KVC_UNAVAILABLE);
  EXPECT_EQ(ready_, 0U);
  EXPECT_EQ(states_, std::vector<std::uint8_t>(4, KVC_MISSING));
}

}  // namespace
}  // namespace kvtier::test
