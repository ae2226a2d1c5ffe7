// What a store does when its device fails, hangs, shortens or lies.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/pattern_block.h"
#include "tests/support/sim_store.h"

namespace kvtier::test {
namespace {

std::vector<DiskKey> keys_of(std::uint64_t first, std::uint64_t count) {
  std::vector<DiskKey> keys;
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(sim_key(first + i));
  return keys;
}

class StoreFault : public testing::Test {
 protected:
  void open(std::size_t paths = 1, std::uint64_t file_bytes = kSegmentsOffset + 40 * 128 * kKiB) {
    sim_.reset();
    sim_ = std::make_unique<SimStore>(disk_, small_sim_options(), paths, file_bytes);
    ASSERT_TRUE(sim_->open()) << sim_->store().status().to_string();
  }
  void put_all(std::uint64_t first, std::uint64_t count) {
    ASSERT_EQ(sim_->put(keys_of(first, count)), Code::kOk);
    ASSERT_TRUE(sim_->settle());
  }
  /// One byte of the block's payload on disk, at this offset in it.
  std::byte& payload_byte(const DiskKey& key, std::uint64_t at) {
    const DiskLocator locator = sim_->find(key).value();
    const SegmentGeometry& geometry = sim_->store().path(0).geometry;
    return disk_.image(
        sim_->file(0))[segment_file_offset(geometry, locator.segment) + locator.payload_offset() + at];
  }
  std::uint64_t fault_count(DiskFault fault) const {
    return sim_->store().stats().faults[static_cast<std::size_t>(fault)];
  }
  std::vector<const DiskEvent*> events(DiskEventKind kind) const {
    std::vector<const DiskEvent*> found;
    for (const DiskEvent& event : sim_->events) {
      if (event.kind == kind) found.push_back(&event);
    }
    return found;
  }

  SimDisk disk_{1};
  std::unique_ptr<SimStore> sim_;
};

TEST_F(StoreFault, TenFlippedBytesAreTenMisses_R06) {
  open();
  put_all(0, 50);
  put_all(50, 50);
  for (std::uint64_t i = 0; i < 100; i += 10) payload_byte(sim_key(i), 37 * i) ^= std::byte{1};
  for (int restarts = 0; restarts < 2; ++restarts) {
    std::size_t right = 0;
    for (std::uint64_t i = 0; i < 100; ++i) right += sim_->read(sim_key(i)) == Code::kOk ? 1 : 0;
    EXPECT_EQ(right, 90U);
    EXPECT_EQ(sim_->wrong_bytes, 0U);
    EXPECT_EQ(sim_->index().size(), 90U) << "bad entries are gone";
    EXPECT_EQ(fault_count(DiskFault::kPayloadDamaged), restarts == 0 ? 10U : 10U + 0U);
    if (restarts == 0) {
      EXPECT_EQ(sim_->flush_now(), Code::kOk);
      open();  // sealed segments name them again, the one that was open was scanned
    }
  }
}

TEST_F(StoreFault, ADamagedBlockFailsAloneAndOnceAndMayBePutAgain_C06_C08) {
  open();
  put_all(0, 8);
  payload_byte(sim_key(5), 100) ^= std::byte{0x80};
  ASSERT_EQ(sim_->get(keys_of(0, 8)), Code::kOk);
  ASSERT_TRUE(sim_->settle());
  std::size_t ok = 0;
  for (const DiskEvent* event : events(DiskEventKind::kGet)) {
    ok += event->code == Code::kOk ? 1 : 0;
    if (event->code == Code::kOk) continue;
    EXPECT_EQ(event->key, sim_key(5));
    EXPECT_EQ(event->code, Code::kCorrupt);
    EXPECT_EQ(event->fault, DiskFault::kPayloadDamaged);
    EXPECT_TRUE(event->is_dropped);
  }
  EXPECT_EQ(ok, 7U);
  EXPECT_EQ(sim_->read(sim_key(5)), Code::kNotFound) << "the verdict does not stick to a key that is gone";
  EXPECT_EQ(sim_->put_one(sim_key(5)), Code::kOk);
  EXPECT_EQ(sim_->read(sim_key(5)), Code::kOk);
}

TEST_F(StoreFault, AFileThatWasCutIsAMissAndNoStaleByte_D01) {
  open();
  put_all(0, 4);
  const DiskLocator locator = sim_->find(sim_key(2)).value();
  const std::uint64_t offset = segment_file_offset(sim_->store().path(0).geometry, locator.segment);
  disk_.image(sim_->file(0)).resize(offset + locator.payload_offset() + 4096);
  EXPECT_EQ(sim_->read(sim_key(1)), Code::kOk);
  EXPECT_EQ(sim_->read(sim_key(2)), Code::kCorrupt);
  EXPECT_EQ(sim_->last(DiskEventKind::kGet)->fault, DiskFault::kTruncated);
}

// One prefix is read in two requests: all headers, and all payloads where the slots lie side by side.
TEST_F(StoreFault, APrefixIsReadInFewLargeRequests) {
  open();
  put_all(0, 8);
  const DiskStats before = sim_->store().stats();
  ASSERT_EQ(sim_->get(keys_of(0, 8)), Code::kOk);
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->store().stats().gets_ok, 8U);
  const DiskStats& after = sim_->store().stats();
  EXPECT_LE(after.reads - before.reads, 4U) << "eight blocks, over the end of a segment";
  EXPECT_GE(after.bytes_read - before.bytes_read, 8U * kSimBlockBytes);
}

TEST_F(StoreFault, AWriteThatFailsCostsItsOwnRecordAndNotItsNeighbours_D01) {
  open();
  put_all(100, 1);  // so that the segment is open
  for (std::uint64_t nth = 0; nth < 5; ++nth) {
    // A whole request fails, then one of its parts does too; the parts before that one do not.
    sim_->events.clear();
    sim_->faults().next({.fault = IoFault::kFail, .count = 2, .only = IoKind::kWrite, .error = EIO});
    ASSERT_EQ(sim_->put(keys_of(200 + 10 * nth, 5)), Code::kOk);
    ASSERT_TRUE(sim_->settle());
    const auto put_events = events(DiskEventKind::kPut);
    ASSERT_EQ(put_events.size(), 5U);
    for (const DiskEvent* event : put_events) {
      EXPECT_EQ(event->code, Code::kOk) << "both requests of the group were tried again";
      EXPECT_EQ(sim_->read(event->key), Code::kOk);
    }
  }
  EXPECT_GT(sim_->store().stats().io_split, 5U);
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreFault, ARecordWhoseSecondTryFailsTooIsNotStored_D01) {
  open();
  put_all(100, 1);
  sim_->faults().next({.fault = IoFault::kFail, .count = 3, .only = IoKind::kWrite, .error = EIO});
  ASSERT_EQ(sim_->put(keys_of(0, 5)), Code::kOk);
  ASSERT_TRUE(sim_->settle());
  std::size_t failed = 0;
  for (const DiskEvent* event : events(DiskEventKind::kPut)) {
    if (event->code == Code::kOk) continue;
    ++failed;
    EXPECT_EQ(event->code, Code::kSystem);
    EXPECT_FALSE(sim_->find(event->key).has_value());
  }
  EXPECT_GE(failed, 1U);
  EXPECT_EQ(sim_->index().size() + failed, 6U);
  for (std::uint64_t i = 0; i < 5; ++i) {
    if (!sim_->find(sim_key(i)).has_value()) continue;
    EXPECT_EQ(sim_->read(sim_key(i)), Code::kOk);
  }
  sim_->close();
  ASSERT_TRUE(sim_->settle());
  open();
  EXPECT_EQ(sim_->index().size() + failed, 6U) << "the footer names what was stored, and no more";
}

TEST_F(StoreFault, AReadThatFailsIsTriedAgainBlockByBlock) {
  open();
  put_all(0, 5);
  sim_->faults().next({.fault = IoFault::kFail, .count = 2, .only = IoKind::kRead, .error = EIO});
  ASSERT_EQ(sim_->get(keys_of(0, 5)), Code::kOk);
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->store().stats().gets_ok, 5U);
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

// The device may read it the next time.
TEST_F(StoreFault, ABlockThatCannotBeReadIsAMissAndNotDropped_C08) {
  open();
  put_all(0, 3);
  sim_->faults().next({.fault = IoFault::kFail, .count = 1, .only = IoKind::kRead, .error = EIO});
  EXPECT_EQ(sim_->read(sim_key(1)), Code::kSystem);
  EXPECT_FALSE(sim_->last(DiskEventKind::kGet)->is_dropped);
  EXPECT_EQ(sim_->read(sim_key(1)), Code::kOk);
}

TEST_F(StoreFault, AStalledReadEndsAtItsDeadlineAndItsMemoryComesBackLater_D13_D14) {
  open();
  put_all(0, 3);
  const std::size_t free = sim_->slots_free();
  sim_->faults().next({.fault = IoFault::kStall, .count = 2, .only = IoKind::kRead});
  ASSERT_EQ(sim_->get(sim_key(1), sim_->clock().now_ns() + 50 * kNsPerMs), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return !events(DiskEventKind::kGet).empty(); }));
  const DiskEvent* late = sim_->last(DiskEventKind::kGet);
  EXPECT_EQ(late->code, Code::kDeadline);
  EXPECT_TRUE(late->is_held);
  EXPECT_FALSE(late->is_dropped) << "the block may be all right";
  EXPECT_EQ(sim_->slots_free(), free - 1);
  sim_->faults().thaw();
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->slots_free(), free);
  EXPECT_EQ(events(DiskEventKind::kReleased).size(), 1U);
  ASSERT_TRUE(sim_->run([&] { return sim_->store().path_state(0) == PathState::kOk; }))
      << "it comes back by itself";
  EXPECT_EQ(sim_->read(sim_key(1)), Code::kOk);
}

TEST_F(StoreFault, AHangingPathIsSlowAndSaysNoAtOnceUntilAProbeFindsItWell_D13) {
  open();
  put_all(0, 3);
  sim_->faults().next({.fault = IoFault::kStall, .count = 1000});
  for (int i = 0; i < 4; ++i) (void)sim_->get(sim_key(1), sim_->clock().now_ns() + 20 * kNsPerMs);
  ASSERT_EQ(sim_->put(keys_of(10, 4)), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->store().path_state(0) == PathState::kSlow; }));
  EXPECT_NE(sim_->last(DiskEventKind::kPath), nullptr);
  // Fails fast: in this round.
  sim_->events.clear();
  ASSERT_EQ(sim_->get(sim_key(2)), Code::kOk);
  sim_->step();
  ASSERT_EQ(events(DiskEventKind::kGet).size(), 1U);
  EXPECT_EQ(events(DiskEventKind::kGet)[0]->code, Code::kUnavailable);
  EXPECT_EQ(sim_->put(keys_of(20, 1)), Code::kUnavailable);
  // The device wakes up.
  for (int i = 0; i < 2000; ++i) sim_->step();
  sim_->faults().next({.fault = IoFault::kFail, .count = 1, .only = IoKind::kSync});
  sim_->faults().thaw();
  ASSERT_TRUE(sim_->run([&] {
    sim_->faults().thaw();
    return sim_->store().path_state(0) == PathState::kOk;
  }));
  ASSERT_TRUE(sim_->run([&] {
    sim_->faults().thaw();
    return sim_->slots_free() == small_sim_options().slots;
  }));
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreFault, OnePathFailsWithoutTheOther) {
  open(2);
  for (std::uint64_t i = 0; i < 12; ++i) ASSERT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
  ASSERT_EQ(sim_->flush_now(), Code::kOk);
  ASSERT_GT(sim_->store().path(0).segments.live_count(), 0U);
  ASSERT_GT(sim_->store().path(1).segments.live_count(), 0U);
  const int file = sim_->file(0);
  const std::vector<std::byte> image = disk_.image(file);
  disk_.remove("path0");  // every request of it fails from now on
  std::size_t right = 0;
  for (std::uint64_t i = 0; i < 12; ++i) right += sim_->read(sim_key(i)) == Code::kOk ? 1 : 0;
  EXPECT_EQ(sim_->store().path_state(0), PathState::kFailed);
  EXPECT_EQ(sim_->store().path_state(1), PathState::kOk);
  EXPECT_EQ(right, sim_->store().path(1).segments.live_count());
  for (std::uint64_t i = 100; i < 110; ++i) {
    EXPECT_EQ(sim_->put_one(sim_key(i)), Code::kOk);
    EXPECT_EQ(sim_->read(sim_key(i)), Code::kOk);
  }
  EXPECT_EQ(sim_->flush_now(), Code::kOk) << "the failed path has nothing new";
}

// A disk that is full, or read-only: what it has is read on, although a read between two writes ends well each time.
TEST_F(StoreFault, WhereOnlyWritesFailThePathIsFailedAndReadsOn_D11) {
  open();
  put_all(0, 3);
  sim_->faults().next({.fault = IoFault::kFail, .count = 14, .only = IoKind::kWrite, .error = ENOSPC});
  for (std::uint64_t i = 10; i < 14; ++i) {
    (void)sim_->put_one(sim_key(i));
    EXPECT_EQ(sim_->read(sim_key(1)), Code::kOk);
  }
  EXPECT_EQ(sim_->store().path_state(0), PathState::kFailed);
  EXPECT_EQ(sim_->store().path(0).health.error(), ENOSPC);
  EXPECT_EQ(sim_->put(keys_of(20, 1)), Code::kUnavailable) << "nothing is sent that would fail";
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(sim_->read(sim_key(i)), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->store().path_state(0) == PathState::kOk; }));
  EXPECT_EQ(sim_->put_one(sim_key(30)), Code::kOk);
}

// The same where writes hang, as on a file system that is frozen; reads that hang too end it.
TEST_F(StoreFault, WhereOnlyWritesHangThePathIsSlowAndReadsOn_D13) {
  open();
  put_all(0, 3);
  const auto read = [&](std::uint64_t number) {
    sim_->events.clear();
    EXPECT_EQ(sim_->get(sim_key(number)), Code::kOk);
    EXPECT_TRUE(sim_->run([&] { return sim_->last(DiskEventKind::kGet) != nullptr; }));
    return sim_->last(DiskEventKind::kGet)->code;
  };
  sim_->faults().next({.fault = IoFault::kStall, .count = 1000, .only = IoKind::kWrite});
  ASSERT_EQ(sim_->put(keys_of(10, 1)), Code::kOk);
  for (int i = 0; i < 500 && sim_->store().path_state(0) != PathState::kSlow; ++i) {
    ASSERT_EQ(read(1), Code::kOk);
    sim_->clock().advance(10 * kNsPerMs);
  }
  ASSERT_EQ(sim_->store().path_state(0), PathState::kSlow);
  EXPECT_EQ(sim_->put(keys_of(20, 1)), Code::kUnavailable);
  EXPECT_EQ(read(2), Code::kOk);
  sim_->faults().next({.fault = IoFault::kStall, .count = 1000, .only = IoKind::kRead});
  Code code = read(1);
  EXPECT_EQ(code, Code::kDeadline);
  for (int i = 0; i < 3 && code == Code::kDeadline; ++i) code = read(1);
  EXPECT_EQ(code, Code::kUnavailable) << "reads that hang too are sent no more";
  // Nothing is due before the device lets go: who waits for that sleeps.
  for (int i = 0; i < 100; ++i) sim_->step();
  EXPECT_GT(sim_->store().next_deadline_ns(), sim_->clock().now_ns());
  ASSERT_TRUE(sim_->run([&] {
    sim_->faults().thaw();
    return sim_->store().path_state(0) == PathState::kOk;
  }));
  EXPECT_EQ(sim_->get(sim_key(1)), Code::kOk) << "taken";
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreFault, AFailedSyncFailsItsFlushAndTheNextOneIsAboutLaterPuts) {
  open();
  put_all(0, 3);
  sim_->faults().next({.fault = IoFault::kFail, .only = IoKind::kSync});
  EXPECT_EQ(sim_->flush_now(), Code::kSystem);
  EXPECT_EQ(sim_->flush_now(), Code::kOk) << "nothing was put since; what failed was told";
  put_all(10, 1);
  EXPECT_EQ(sim_->flush_now(), Code::kOk);
}

// The sync of a mark, say, takes what was put before with it: the flush that was asked for before that tells it, although
// its own sync ends well.
TEST_F(StoreFault, ASyncThatFailedWhileAFlushWaitedForItsPutsFailsTheFlush) {
  open();
  put_all(0, 3);
  sim_->faults().next({.fault = IoFault::kStall, .count = 2, .only = IoKind::kWrite});
  ASSERT_EQ(sim_->put(keys_of(10, 1)), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->faults().stalled_count() == 2; }));
  ASSERT_EQ(sim_->flush(), Code::kOk);
  sim_->faults().next({.fault = IoFault::kFail, .only = IoKind::kSync});
  ASSERT_EQ(sim_->mark(sim_key(99)), Code::kOk);
  ASSERT_TRUE(sim_->run([&] { return sim_->last(DiskEventKind::kMarked) != nullptr; }));
  EXPECT_EQ(sim_->last(DiskEventKind::kMarked)->code, Code::kSystem);
  ASSERT_EQ(sim_->last(DiskEventKind::kFlushed), nullptr);
  sim_->faults().thaw();
  ASSERT_TRUE(sim_->settle());
  EXPECT_EQ(sim_->last(DiskEventKind::kFlushed)->code, Code::kSystem);
  EXPECT_EQ(sim_->flush_now(), Code::kOk) << "told once";
}

TEST_F(StoreFault, ASourceThatChangesWhileItIsWrittenIsAMiss_C20) {
  open();
  put_all(100, 1);
  sim_->faults().next({.fault = IoFault::kDelay, .count = 1, .only = IoKind::kWrite, .delay_ns = kNsPerMs});
  ASSERT_EQ(sim_->put(keys_of(0, 1)), Code::kOk);
  sim_->step();
  for (std::size_t slot = 0; slot < 4; ++slot) std::ranges::fill(sim_->slot_of(slot), std::byte{0x55});
  ASSERT_TRUE(sim_->settle());
  EXPECT_NE(sim_->read(sim_key(0)), Code::kOk);
  EXPECT_EQ(sim_->wrong_bytes, 0U);
}

TEST_F(StoreFault, APutBeyondWhatASegmentOrTheStoreTakesIsRefused) {
  open();
  EXPECT_EQ(sim_->put(keys_of(0, 1), 12 * kKiB), Code::kOk);
  const DiskRecord shape = sim_shape(68 << 10);
  const DiskPut large{
      .key = sim_key(1), .shape = &shape, .memory = {IoRegion{1}, sim_->slot_of(0).data(), 1 << 20}};
  EXPECT_EQ(sim_->store().put({&large, 1}), Code::kInvalid) << "block_bytes_max";
  const DiskRecord small = sim_shape();
  const DiskPut narrow{
      .key = sim_key(1), .shape = &small, .memory = {IoRegion{1}, sim_->slot_of(0).data(), 9192}};
  EXPECT_EQ(sim_->store().put({&narrow, 1}), Code::kInvalid) << "the last page goes beyond the memory";
  ASSERT_TRUE(sim_->settle());
}

}  // namespace
}  // namespace kvtier::test
