// Slabs that the NVMe tier knows: none of its memory goes while the tier may touch it, and what is in one that is emptied
// is saved first.

#include "tests/unit/flow/disk_fixture.h"

namespace kvtier::test {
namespace {

class DiskSlabs : public DiskFixture {
 protected:
  // "main" has all of the memory, and wants it no more than "other".
  void fill() {
    make_disk_store(16, {.disk_wait_ns = 50 * kNsPerMs});
    main_ = &add_client("main");
    space_ = usual_space(*main_);
    put_chain(*main_, space_, keys_of(1, 16));
    settle();
    other_ = &add_client("other");
    other_space_ = usual_space(*other_);
  }
  SimClient* main_ = nullptr;
  SimClient* other_ = nullptr;
  SpaceId space_ = SpaceId::kNone;
  SpaceId other_space_ = SpaceId::kNone;
};

TEST_F(DiskSlabs, ASlabThatChangesItsNamespaceWaitsForTheTier) {
  fill();
  port_->is_automatic = false;
  const std::uint32_t request = other_->reserve(other_space_, keys_of(2, 2), {});
  settle();
  EXPECT_EQ(stats().slab_retirements, 0U) << "the tier was asked, and has not answered";
  EXPECT_FALSE(other_->is_answered(request));
  port_->answer();
  settle();
  EXPECT_EQ(port_->slabs_removed, 1U);
  EXPECT_EQ(stats().slab_retirements, 1U);
  ASSERT_TRUE(other_->is_answered(request));
  EXPECT_EQ(other_->completion(request).code, Code::kOk);
  port_->is_automatic = true;
  commit(*other_, other_->reserved(request));
  settle();
  put(*other_, other_space_, keys_of(3, 2));
  settle();
  EXPECT_EQ(count_cold(*main_, space_, keys_of(1, 16)), 4U) << "nothing was lost with the slab";
  EXPECT_EQ(stats().evictions_unsaved, 0U);
}

TEST_F(DiskSlabs, BlocksOfASlabThatIsEmptiedAreSavedFirst) {
  make_disk_store(16, {.disk_wait_ns = 50 * kNsPerMs});
  main_ = &add_client("main");
  space_ = usual_space(*main_);
  port_->takes_puts_now = false;
  put(*main_, space_, keys_of(1, 16));
  settle();
  EXPECT_EQ(port_->puts, 0U);
  port_->takes_puts_now = true;
  other_ = &add_client("other");
  other_space_ = usual_space(*other_);
  EXPECT_EQ(reserve(*other_, other_space_, keys_of(2, 2)).size(), 2U);
  EXPECT_EQ(last_completion_.code, Code::kOk);
  EXPECT_EQ(stats().evictions_unsaved, 0U);
  EXPECT_EQ(count_cold(*main_, space_, keys_of(1, 16)), 4U);
}

TEST_F(DiskSlabs, ASlabThatIsEmptiedDoesNotWaitForEver) {
  make_disk_store(320, {.slab_bytes = 320 * kBlock / 2, .disk_wait_ns = 5 * kNsPerMs});
  main_ = &add_client("main");
  space_ = usual_space(*main_);
  port_->takes_puts_now = false;
  put(*main_, space_, keys_of(1, 320));
  settle();
  port_->takes_puts_now = true;
  port_->is_automatic = false;
  other_ = &add_client("other");
  other_space_ = usual_space(*other_);
  const std::uint32_t request = other_->reserve(other_space_, keys_of(2, 2), {});
  settle();
  EXPECT_FALSE(other_->is_answered(request));
  for (int i = 0; i < 400 && !other_->is_answered(request); ++i) advance(5 * kNsPerMs);
  EXPECT_TRUE(other_->is_answered(request)) << "refused, or served: never for ever";
}

}  // namespace
}  // namespace kvtier::test
