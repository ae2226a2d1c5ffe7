// A block's record is used again for a slot of the same generation while its old entry still waits for a checksum. The
// daemon stopped at "a busy block stays": found by killing clients under load.

#include <gtest/gtest.h>

#include "daemon/flow/state.h"
#include "libkvclient/base/checksum.h"
#include "tests/support/pattern_block.h"
#include "tests/support/sim_client.h"
#include "tests/support/store_checks.h"

namespace kvtier::test {
namespace {

class RecordReuse : public ::testing::Test {
 protected:
  RecordReuse() {
    StoreOptions options;
    options.host_bytes = 4 * 8 * 4096;
    options.slab_bytes = 8 * 4096;
    options.low_water_blocks = 0;
    options.seed = 1;
    store_ = Store::create(options, clock_, fds_).value();
    client_ = std::make_unique<SimClient>(*store_, "main", 100);
  }

  Hold reserve(SpaceId space, std::uint64_t chain) {
    const std::uint32_t request = client_->reserve(space, {pattern_key(chain, 0)}, Key{});
    std::vector<OutEvent> events;
    events.swap(store_->outbox());
    for (const OutEvent& event : events) client_->on_event(event);
    const Reservation reservation = client_->reserved(request)[0];
    EXPECT_EQ(reservation.result.code, Code::kOk);
    return reservation.result.hold;
  }

  ManualClock clock_;
  NoFdStore fds_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<SimClient> client_;
};

TEST_F(RecordReuse, a_record_that_waits_twice_is_summed_once) {
  const SpaceId small = client_->register_space(encoded_spec("small", 4096));
  const SpaceId large = client_->register_space(encoded_spec("large", 8192));
  const Hold first = reserve(small, 1);
  (void)reserve(small, 2);  // stays open: its slab is not cut anew
  client_->commit({first});
  (void)client_->simple(Op::kInvalidate, small, {});
  while (store_->do_work() > 0) {
  }
  const Hold again = reserve(large, 3);
  ASSERT_EQ(again.block, first.block);
  ASSERT_EQ(again.generation_low, first.generation_low);
  client_->commit({again});
  clock_.advance(2 * kNsPerSecond);
  const std::optional<ChecksumJob> job = store_->checksum_next();
  ASSERT_TRUE(job.has_value());
  EXPECT_FALSE(store_->checksum_next().has_value());
  store_->checksum_done(*job, checksum64(job->bytes));
  EXPECT_FALSE(store_->checksum_next().has_value());
  EXPECT_EQ(store_->stats().checksums, 1U);
  check_store(*store_);
}

}  // namespace
}  // namespace kvtier::test
