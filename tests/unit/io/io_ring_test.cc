// The ring over a device that answers by script: resuming, retrying, order, bounds.

#include "daemon/io/io_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "tests/unit/io/scripted_backend.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBytes = 16384;

class IoRingScripted : public testing::Test {
 protected:
  explicit IoRingScripted(std::uint32_t depth = 4, const IoRingOptions& options = {
                                                       .requests_max = 8, .device_bytes_max = 4 * kBytes}) {
    auto backend = std::make_unique<ScriptedBackend>(depth);
    device_ = backend.get();
    ring_ = std::make_unique<IoRing>(std::move(backend), options);
    EXPECT_TRUE(ring_->set_file(IoFile{0}, 0, 4096).is_ok());
    EXPECT_TRUE(ring_->set_region(IoRegion{0}, memory_).is_ok());
  }
  [[nodiscard]] IoRequest request(IoKind kind, std::uint32_t bytes = kBytes) {
    return {.kind = kind, .region = IoRegion{0}, .bytes = bytes, .data = memory_.data()};
  }
  IoId submit(const IoRequest& request) { return ring_->submit(request).value(); }
  /// Polls until nothing more happens.
  std::vector<IoEvent> settle(TimeNs now_ns = 1) {
    std::vector<IoEvent> all;
    std::array<IoEvent, 4> events;
    for (std::size_t asked = ~std::size_t{0};
         asked != device_->asked.size() || ring_->next_deadline_ns() == 0;) {
      asked = device_->asked.size();
      const std::size_t count = ring_->poll(now_ns, events);
      all.insert(all.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
    }
    return all;
  }

  alignas(4096) std::array<std::byte, 4 * std::size_t{kBytes}> memory_{};
  ScriptedBackend* device_ = nullptr;
  std::unique_ptr<IoRing> ring_;
};

TEST_F(IoRingScripted, D01_ShortTransfersAreResumedUntilAllHasMoved) {
  for (const std::int32_t result : {4096, 100, 4096 + 100, 8192 - 4096}) device_->answer(result);
  device_->answer(4096);
  (void)submit(request(IoKind::kWrite));
  const std::vector<IoEvent> events = settle();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].outcome, IoOutcome::kDone);
  EXPECT_EQ(events[0].bytes, kBytes);
  const std::uint64_t offsets[] = {0, 4096, 4096, 8192, 12288};
  ASSERT_EQ(device_->asked.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(device_->asked[i].offset, offsets[i]) << i;
    EXPECT_EQ(device_->asked[i].data, memory_.data() + offsets[i]) << i;
    EXPECT_EQ(device_->asked[i].bytes, kBytes - offsets[i]) << i;
  }
}

TEST_F(IoRingScripted, D01_EveryFirstAnswerEndsAsItShould) {
  struct Row {
    std::int32_t result;
    IoOutcome outcome;
    std::uint32_t bytes;
    int error;
  };
  // After the first answer the device says that there is no more.
  const Row rows[] = {
      {0, IoOutcome::kEndOfFile, 0, 0},       {1, IoOutcome::kEndOfFile, 0, 0},
      {4096, IoOutcome::kEndOfFile, 4096, 0}, {kBytes - 1, IoOutcome::kEndOfFile, kBytes - 4096, 0},
      {kBytes, IoOutcome::kDone, kBytes, 0},  {-EIO, IoOutcome::kFailed, 0, EIO},
      {-EAGAIN, IoOutcome::kEndOfFile, 0, 0}, {-EINTR, IoOutcome::kEndOfFile, 0, 0}};
  for (const Row& row : rows) {
    device_->answer(row.result);
    (void)submit(request(IoKind::kRead));
    std::array<IoEvent, 2> events;
    std::size_t count = ring_->poll(1, events);
    if (count == 0) {
      device_->answer(0);
      count = ring_->poll(1, events);
    }
    ASSERT_EQ(count, 1U) << row.result;
    EXPECT_EQ(events[0].outcome, row.outcome) << row.result;
    EXPECT_EQ(events[0].bytes, row.bytes) << row.result;
    EXPECT_EQ(events[0].error, row.error) << row.result;
  }
}

TEST_F(IoRingScripted, InterruptionsWithoutEndFailTheRequest) {
  for (int i = 0; i < 9; ++i) device_->answer(-EINTR);
  (void)submit(request(IoKind::kRead));
  const std::vector<IoEvent> events = settle();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].outcome, IoOutcome::kFailed);
  EXPECT_EQ(events[0].error, EINTR);
  EXPECT_EQ(ring_->stats().retried, 8U);
}

TEST_F(IoRingScripted, AFullSubmissionRingMeansWaiting) {
  device_->set_full(true);
  (void)submit(request(IoKind::kRead));
  std::array<IoEvent, 1> events;
  EXPECT_EQ(ring_->poll(1, events), 0U);
  EXPECT_EQ(ring_->in_device_count(), 0U);
  EXPECT_EQ(ring_->next_deadline_ns(), 0U) << "to be tried again without a completion";
  device_->set_full(false);
  device_->answer(kBytes);
  ASSERT_EQ(ring_->poll(1, events), 1U);
  EXPECT_EQ(events[0].outcome, IoOutcome::kDone);
}

TEST_F(IoRingScripted, ALargeRequestWaitsForItsRoomAndIsNotOvertaken) {
  (void)submit(request(IoKind::kRead));
  (void)submit(request(IoKind::kRead, 4 * kBytes));
  (void)submit(request(IoKind::kRead, 4096));
  (void)settle();
  ASSERT_EQ(device_->asked.size(), 1U);
  device_->answer(kBytes);
  (void)settle();
  ASSERT_EQ(device_->asked.size(), 2U);
  EXPECT_EQ(device_->asked[1].bytes, 4 * kBytes);
  device_->answer(4 * kBytes);
  (void)settle();
  EXPECT_EQ(device_->asked[2].bytes, 4096U);
}

TEST_F(IoRingScripted, TheDepthIsFilledInOneBatchAndKept) {
  for (int i = 0; i < 8; ++i) (void)submit(request(IoKind::kRead));
  EXPECT_FALSE(ring_->submit(request(IoKind::kRead)).has_value());
  std::array<IoEvent, 8> events;
  (void)ring_->poll(1, events);
  EXPECT_EQ(device_->asked.size(), 4U);
  EXPECT_EQ(device_->flushes, 1U) << "one batch";
  device_->answer(kBytes);
  device_->answer(kBytes);
  EXPECT_EQ(ring_->poll(1, events), 2U);
  EXPECT_EQ(device_->asked.size(), 6U) << "what came back is replaced in the same round";
  EXPECT_EQ(ring_->in_device_count(), 4U);
}

// A resumed request has its place already: what waits does not overtake it.
TEST_F(IoRingScripted, TheRestOfATransferGoesFirst) {
  for (int i = 0; i < 5; ++i) (void)submit(request(IoKind::kRead));
  (void)settle();
  device_->answer(4096);
  (void)settle();
  EXPECT_EQ(device_->asked.back().offset, 4096U);
}

TEST_F(IoRingScripted, ASyncTakesNoBytesAndCanBeTheOnlyRequest) {
  device_->answer(0);
  IoRequest sync{.kind = IoKind::kSync};
  sync.bytes = 77;
  (void)submit(sync);
  const std::vector<IoEvent> events = settle();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].outcome, IoOutcome::kDone);
  EXPECT_EQ(events[0].bytes, 0U);
}

TEST_F(IoRingScripted, ACancelledRequestIsNotResumed) {
  const IoId id = submit(request(IoKind::kRead));
  (void)settle();
  ring_->cancel(id);
  ring_->cancel(id);
  EXPECT_EQ(device_->cancelled, std::vector<std::uint32_t>{id.slot});
  device_->answer(4096);
  const std::vector<IoEvent> events = settle();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].outcome, IoOutcome::kCancelled);
  EXPECT_TRUE(events[0].is_held);
  EXPECT_EQ(events[1].outcome, IoOutcome::kReleased);
  EXPECT_EQ(events[1].id, id);
  EXPECT_EQ(device_->asked.size(), 1U);
}

TEST_F(IoRingScripted, AnIdOfARequestThatIsOverCancelsNobody) {
  device_->answer(kBytes);
  const IoId old = submit(request(IoKind::kRead));
  (void)settle();
  const IoId young = submit(request(IoKind::kRead));
  EXPECT_EQ(old.slot, young.slot);
  (void)settle();
  ring_->cancel(old);
  ring_->cancel({99, 1});
  EXPECT_TRUE(device_->cancelled.empty());
}

}  // namespace
}  // namespace kvtier::test
