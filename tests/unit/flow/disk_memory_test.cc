// STYLE 19: beside an NVMe tier too the data path takes no memory: write-back, cooling, restores, and what gives way.

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "daemon/tier/disk_port.h"
#include "tests/support/allocation_trap.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

// A tier that takes no memory itself: so many copies, the oldest are written over.
class QuietDisk final : public DiskPort {
 public:
  static constexpr std::size_t kCopies = 4096;

  bool send(const DiskCommand& command) override {
    switch (command.kind) {
      case DiskCommandKind::kOpen:
        return push({.kind = DiskNewsKind::kReady});
      case DiskCommandKind::kPut:
        std::memcpy(copy(++sequence_), command.data, kBlock);
        return push({.kind = DiskNewsKind::kPut, .tag = command.tag, .locator = {.sequence = sequence_}});
      case DiskCommandKind::kGet: {
        const bool is_there = command.locator.sequence + kCopies > sequence_;
        if (is_there) std::memcpy(command.data, copy(command.locator.sequence), kBlock);
        return push(
            {.kind = DiskNewsKind::kGet, .code = is_there ? Code::kOk : Code::kStale, .tag = command.tag});
      }
      default:
        return true;
    }
  }
  bool receive(DiskNews& news) override {
    if (first_ == last_) return false;
    news = news_[first_++ % news_.size()];
    return true;
  }
  [[nodiscard]] bool takes_puts() const override { return true; }
  [[nodiscard]] bool wants_evidence() const override { return false; }

 private:
  bool push(const DiskNews& news) {
    news_[last_++ % news_.size()] = news;
    return true;
  }
  std::byte* copy(std::uint64_t sequence) { return &memory_[sequence % kCopies * kBlock]; }

  std::vector<std::byte> memory_ = std::vector<std::byte>(kCopies * kBlock);
  std::vector<DiskNews> news_ = std::vector<DiskNews>(4096);
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::uint64_t sequence_ = 0;
};

class DiskMemory : public StoreFixture {
 protected:
  void SetUp() override { make_store(64, {.blocks_max = 1024, .disk = &disk_}); }
  void TearDown() override {
    StoreFixture::TearDown();
    store_.reset();
  }

  void turns(bool is_armed) {
    for (std::size_t work = 1; work > 0;) {
      if (is_armed) {
        const AllocationTrap trap;
        work = store_->do_work();
      } else {
        work = store_->do_work();
      }
      hand_out();
    }
  }

  // As the conductor does: the outbox keeps its memory.
  void hand_out() {
    for (const OutEvent& event : store_->outbox()) clients_[0]->on_event(event);
    store_->outbox().clear();
  }

  void round(SimClient& client, SpaceId space, std::uint64_t chain, bool is_armed) {
    const std::uint32_t request = client.reserve(space, keys_of(chain, 32), {});
    turns(is_armed);
    std::vector<Hold> holds;
    for (const Reservation& each : client.reserved(request)) {
      client.fill(each);
      holds.push_back(each.result.hold);
    }
    client.commit(holds);
    turns(is_armed);
    const std::vector<Key> keys = keys_of(chain - 3, 16);
    if (is_armed) {
      const AllocationTrap trap;
      (void)client.simple(Op::kRestore, space, keys);
    } else {
      (void)client.simple(Op::kRestore, space, keys);
    }
    turns(is_armed);
  }

  QuietDisk disk_;
};

TEST_F(DiskMemory, TakesNoMemoryOnceAllWasUsed) {
  SimClient& client = add_client();
  const SpaceId space = usual_space(client);
  hand_out();
  store_->disk_open();
  turns(false);
  std::uint64_t chain = 4;
  for (; chain < 60; ++chain) round(client, space, chain, false);
  const std::size_t before = AllocationTrap::caught_count();
  for (; chain < 160; ++chain) round(client, space, chain, true);
  EXPECT_EQ(AllocationTrap::caught_count(), before) << "the places are above";
  EXPECT_GT(stats().demotions, 1000U);
  EXPECT_GT(stats().restores, 500U);
  EXPECT_GT(stats().cold_dropped, 500U);
}

}  // namespace
}  // namespace kvtier::test
