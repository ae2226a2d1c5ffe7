// A ring's agent on a thread of its own: it sleeps on its waiter only, for hours if nobody wakes it. A completion or a
// wake that is lost shows as a test that hangs.

#include <gtest/gtest.h>

#include <array>
#include <atomic>

#include "daemon/agent/agent_runner.h"
#include "daemon/io/ring_waiter.h"
#include "tests/unit/io/ring_harness.h"

namespace kvtier::test {
namespace {

constexpr std::uint32_t kBlock = 4096;
constexpr AgentLoopOptions kNoBeat{.beat_ns = 3600 * kNsPerSecond};

/// Reads one block after the other, a few at a time, as often as it is told to.
class Reader final : public Agent {
 public:
  explicit Reader(RingHarness& harness) : harness_(harness) {}

  [[nodiscard]] std::string_view name() const override { return "reader"; }
  [[nodiscard]] TimeNs next_deadline_ns() const override { return harness_.ring().next_deadline_ns(); }
  std::size_t do_work(TimeNs now_ns) override {
    std::size_t work = 0;
    for (; submitted_ < wished.load(); ++submitted_, ++work) {
      const std::uint64_t offset = submitted_ % 256 * kBlock;
      if (!harness_.ring().submit(harness_.request(IoKind::kRead, offset, kBlock)).has_value()) break;
    }
    std::array<IoEvent, 8> events;
    const std::size_t count = harness_.ring().poll(now_ns, events);
    for (std::size_t i = 0; i < count; ++i) failed += events[i].outcome == IoOutcome::kDone ? 0 : 1;
    done.fetch_add(count);
    done.notify_all();
    return work + count;
  }

  std::atomic<std::uint64_t> wished{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};

 private:
  RingHarness& harness_;
  std::uint64_t submitted_ = 0;
};

class RingAgent : public testing::TestWithParam<IoCase> {
 protected:
  void SetUp() override {
    Result<IoUnderTest> under = GetParam().open(4);
    if (!under.is_ok()) GTEST_SKIP() << under.status().to_string();
    harness_ = std::make_unique<RingHarness>(std::move(under).value(), IoRingOptions{.requests_max = 16});
    for (std::uint64_t at = 0; at < 256 * kBlock; at += kBlock)
      (void)harness_->submit(harness_->request(IoKind::kWrite, at, kBlock));
    harness_->finish();
    waiter_ = RingWaiter::create(harness_->ring()).value();
  }
  std::unique_ptr<RingHarness> harness_;
  std::unique_ptr<RingWaiter> waiter_;
};

TEST_P(RingAgent, CompletionsAndCommandsWakeIt) {
  Reader reader(*harness_);
  const SystemClock clock;
  AgentRunner runner(reader, *waiter_, clock, kNoBeat);
  ASSERT_TRUE(runner.start().is_ok());
  for (std::uint64_t round = 1; round <= 200; ++round) {
    reader.wished.store(round * 20);
    waiter_->wake();
    for (std::uint64_t done = reader.done.load(); done < round * 20; done = reader.done.load())
      reader.done.wait(done);
  }
  runner.stop();
  EXPECT_EQ(reader.done.load(), 4000U);
  EXPECT_EQ(reader.failed.load(), 0U);
}

TEST_P(RingAgent, AWakeBeforeTheWaitEndsIt) {
  waiter_->wake();
  waiter_->wait(1, kNever);
  waiter_->wait(1, 1);
  (void)harness_->submit(harness_->request(IoKind::kRead, 0, kBlock));
  waiter_->wait(1, kNever);  // what is submitted is to be polled first
  harness_->finish();
  EXPECT_EQ(harness_->events().back().outcome, IoOutcome::kDone);
}

INSTANTIATE_TEST_SUITE_P(Backends, RingAgent, testing::ValuesIn(kernel_io_cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kvtier::test
