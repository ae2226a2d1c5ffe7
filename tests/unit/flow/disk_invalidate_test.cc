// What is invalidated is a miss in every tier, and stays one over a restart.

#include "daemon/flow/admin.h"
#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class DiskInvalidate : public DiskFixture {
 protected:
  void SetUp() override {
    make_disk_store(8);
    begin();
    put_chain(*client_, space_, keys_of(1, 8));
    settle();
    put_chain(*client_, space_, keys_of(2, 8));
    settle();
  }
  void begin() {
    client_ = &add_client();
    space_ = usual_space(*client_);
  }
  EvictReport purge(const EvictTarget& target) {
    EvictReport total;
    EvictReport report = store_->admin().evict(target, {}, 1 << 20);
    for (int i = 0; i < 100 && report.next; ++i) {
      total.add(report);
      settle();
      report = store_->admin().evict(target, *report.next, 1 << 20);
    }
    EXPECT_FALSE(report.next.has_value());
    report.add(total);
    return report;
  }
  [[nodiscard]] std::size_t known() {
    const auto first = states_of(*client_, space_, keys_of(1, 8));
    const auto second = states_of(*client_, space_, keys_of(2, 8));
    return 16 - static_cast<std::size_t>(std::count(first.begin(), first.end(), 0) +
                                         std::count(second.begin(), second.end(), 0));
  }

  SimClient* client_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
};

TEST_F(DiskInvalidate, ColdBlocksLeaveTooAndTheAnswerWaitsForTheDisk) {
  ASSERT_EQ(known(), 16U);
  port_->is_automatic = false;
  const std::uint32_t request = client_->simple(Op::kInvalidate, space_, {});
  settle();
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(stats().blocks_cold, 0U);
  EXPECT_FALSE(client_->is_answered(request)) << "a crash now could bring them back";
  port_->answer();
  settle();
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(client_->completion(request).count, 16U);
}

TEST_F(DiskInvalidate, NothingComesBackAfterARestart) {
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).count, 16U);
  put(*client_, space_, keys_of(3, 8));
  settle();
  restart_cold(8);
  begin();
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(count_cold(*client_, space_, keys_of(3, 8)), 8U) << "what was put behind it does";
}

TEST_F(DiskInvalidate, OfTheWholeNamespace) {
  const SpaceId other = client_->register_space(encoded_spec("other", kBlock));
  put(*client_, other, keys_of(4, 4));
  settle();
  EXPECT_EQ(call(*client_, Op::kInvalidate, SpaceId::kNone, {}).count, 20U);
  EXPECT_TRUE(disk_.copies.empty());
}

TEST_F(DiskInvalidate, APutInFlightEndsVoid) {
  port_->is_automatic = false;
  put(*client_, space_, keys_of(3, 4));  // in place of four of chain 2, which are on disk
  settle();
  ASSERT_EQ(port_->open_count(), 4U);
  const std::uint32_t request = client_->simple(Op::kInvalidate, space_, {});
  settle();
  EXPECT_EQ(stats().blocks_draining, 4U) << "a device reads them";
  port_->is_automatic = true;
  advance(10 * kNsPerMs);
  EXPECT_TRUE(client_->is_answered(request));
  EXPECT_EQ(stats().slots_free, 8U);
  EXPECT_TRUE(port_->owned().empty());
  EXPECT_TRUE(disk_.copies.empty()) << "the mark came behind them";
}

TEST_F(DiskInvalidate, ARestoreInFlightEndsAsAMissAndItsSlotComesBack) {
  port_->is_automatic = false;
  (void)client_->simple(Op::kRestore, space_, keys_of(1, 4));
  const std::uint32_t wait = client_->simple(Op::kWait, space_, keys_of(1, 4));
  settle();
  const std::uint32_t request = client_->simple(Op::kInvalidate, space_, {});
  settle();
  ASSERT_TRUE(client_->is_answered(wait));
  EXPECT_EQ(client_->completion(wait).count, 0U);
  port_->is_automatic = true;
  settle();
  EXPECT_TRUE(client_->is_answered(request));
  EXPECT_EQ(known(), 0U);
  EXPECT_EQ(stats().slots_free, 8U);
}

TEST_F(DiskInvalidate, WaitsUntilTheTierIsOpenAndTakesWhatRecoveryFinds) {
  opens_ = false;
  prepare_ = [](FakeDiskPort& port) { port.entries_at_once = 1; };
  restart_cold(8);
  begin();
  for (int i = 0; i < 4; ++i) (void)store_->do_work();
  EXPECT_GT(stats().blocks_cold, 0U);
  const std::uint32_t request = client_->simple(Op::kInvalidate, space_, {});
  while (!port_->is_ready()) {
    (void)store_->do_work();
    deliver();
    EXPECT_FALSE(client_->is_answered(request));
  }
  settle();
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(known(), 0U);
  EXPECT_TRUE(disk_.copies.empty());
}

TEST_F(DiskInvalidate, SaysThatATierThatIsShutWasNotTold) {
  prepare_ = [](FakeDiskPort& port) { port.is_refused = true; };
  restart_cold(8);
  begin();
  put(*client_, space_, keys_of(1, 2));
  const Completion answer = call(*client_, Op::kInvalidate, space_, {});
  EXPECT_EQ(answer.code, Code::kUnavailable);
  EXPECT_EQ(answer.count, 2U) << "memory is clean all the same";
}

TEST_F(DiskInvalidate, ItsSessionMayEndMeanwhile) {
  port_->is_automatic = false;
  (void)client_->simple(Op::kInvalidate, space_, {});
  settle();
  end_process(*client_);
  port_->is_automatic = true;
  settle();
  EXPECT_EQ(port_->marks, 1U);
}

// kvctl evict takes blocks out of memory; what is on disk stays there unless that is asked for.
TEST_F(DiskInvalidate, EvictTakesMemoryAndTheDiskWhenItIsAsked) {
  EvictTarget target;
  EvictReport report = store_->admin().evict(target, {}, 1 << 20);
  EXPECT_EQ(report.evicted, 8U);
  EXPECT_EQ(report.kept.total(), 0U);
  EXPECT_EQ(stats().blocks_ready, 0U);
  EXPECT_EQ(stats().blocks_cold, 16U);
  EXPECT_EQ(report.kept.on_disk, 16U) << "and they are told of";
  EXPECT_EQ(report.unsaved, 0U);
  target.is_disk_too = true;
  report = purge(target);
  EXPECT_EQ(report.evicted, 16U);
  EXPECT_TRUE(report.status.is_ok());
  EXPECT_EQ(stats().blocks_cold, 0U);
  EXPECT_TRUE(port_->owned().empty());
  restart_cold(8);
  begin();
  EXPECT_EQ(known(), 0U);
}

// A cold block is not "0 evicted, none kept" and no more.
TEST_F(DiskInvalidate, EvictOfAColdKeySaysThatItStaysOnDisk) {
  const EvictReport report = store_->admin().evict({.key_prefix = to_hex(keys_of(1, 8)[4])}, {}, 1 << 20);
  EXPECT_EQ(report.evicted, 0U);
  EXPECT_EQ(report.kept.on_disk, 4U);
  const EvictReport hot = store_->admin().evict({.key_prefix = to_hex(keys_of(2, 8)[4])}, {}, 1 << 20);
  EXPECT_EQ(hot.evicted, 4U);
  EXPECT_EQ(hot.kept.on_disk, 4U);
}

TEST_F(DiskInvalidate, PurgeOfASpaceTakesWhatIsHeldTooAndAnswersWhenTheDiskKnows) {
  std::optional<SimLease> lease = client_->acquire(space_, keys_of(2, 8)[7]);
  ASSERT_TRUE(lease.has_value());
  port_->is_automatic = false;
  const EvictTarget target{.filter = {"main", space_}, .is_disk_too = true};
  EvictReport report = store_->admin().evict(target, {}, 1 << 20);
  settle();
  ASSERT_TRUE(report.next.has_value());
  report = store_->admin().evict(target, *report.next, 1 << 20);
  EXPECT_TRUE(report.next.has_value()) << "a crash now could bring them back";
  port_->answer();
  settle();
  report = store_->admin().evict(target, *report.next, 1 << 20);
  EXPECT_FALSE(report.next.has_value());
  EXPECT_EQ(report.evicted, 16U);
  EXPECT_EQ(known(), 0U);
  SimClient::release(*lease);
  port_->is_automatic = true;
}

TEST_F(DiskInvalidate, PurgeOfATierThatIsShutSaysWhatMayComeBack) {
  prepare_ = [](FakeDiskPort& port) { port.is_refused = true; };
  restart_cold(8);
  begin();
  put(*client_, space_, keys_of(1, 2));
  EvictReport report = store_->admin().evict({}, {}, 1 << 20);
  EXPECT_EQ(report.evicted, 2U);
  EXPECT_EQ(report.unsaved, 2U) << "who thinks that they stay on disk is told";
  put(*client_, space_, keys_of(1, 2));
  report = store_->admin().evict({.key_prefix = to_hex(keys_of(1, 2)[0])}, {}, 1 << 20);
  EXPECT_EQ(report.unsaved, 2U);
  put(*client_, space_, keys_of(1, 2));
  report = purge({.is_disk_too = true});
  EXPECT_EQ(report.evicted, 2U);
  EXPECT_EQ(report.unsaved, 0U) << "it was to go";
  EXPECT_EQ(report.status.code(), Code::kUnavailable);
  EXPECT_NE(report.status.message().find("a restart may bring them back"), std::string::npos);
  put(*client_, space_, keys_of(1, 2));
  report = purge({.key_prefix = to_hex(keys_of(1, 2)[0]), .is_disk_too = true});
  EXPECT_EQ(report.evicted, 2U);
  EXPECT_EQ(report.status.code(), Code::kUnavailable);
}

TEST_F(DiskInvalidate, EvictByKeyTakesWhatIsBelowItOnDiskToo) {
  EvictTarget target{.key_prefix = to_hex(keys_of(1, 8)[4]), .is_disk_too = true};
  const EvictReport report = purge(target);
  EXPECT_EQ(report.evicted, 4U);
  EXPECT_TRUE(report.status.is_ok());
  EXPECT_EQ(port_->marks, 4U);
  EXPECT_EQ(known(), 12U);
  restart_cold(8);
  begin();
  EXPECT_EQ(known(), 12U) << "a mark each";
}

}  // namespace
}  // namespace kvtier::test
