// A slab is emptied only when all of it can leave: one block that stays makes every eviction there useless, and whoever
// keeps it is named.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/store_fixture.h"

namespace kvtier::test {
namespace {

constexpr std::uint64_t kSlabSlots = 64;
constexpr std::uint64_t kSlabs = 4;
constexpr std::uint64_t kBlocks = kSlabs * kSlabSlots;
constexpr std::uint32_t kHolder = 4711;

class EmptyingHolders : public StoreFixture {
 protected:
  // Chain c fills slab c.
  EmptyingHolders() {
    make_store(kBlocks, {.slab_bytes = kSlabSlots * kBlock});
    client_ = &add_client();
    small_ = usual_space(*client_);
    for (std::uint64_t chain = 0; chain < kSlabs; ++chain) put(*client_, small_, keys_of(chain, kSlabSlots));
    holder_ = &add_client("main", kHolder);
    (void)usual_space(*holder_);
    clock_.advance(10 * kNsPerSecond);
    wanting_ = &add_client();
    large_ = wanting_->register_space(encoded_spec("large", 4 * kBlock));
  }
  void lease(std::uint64_t chain, std::uint64_t number) {
    leases_.push_back(*holder_->acquire(small_, pattern_key(chain, number)));
  }
  void release_all() {
    for (SimLease& each : leases_) SimClient::release(each);
    leases_.clear();
  }
  /// A large block is wanted: what the request is answered.
  Completion want(std::uint64_t chain = 9000) {
    const std::uint32_t request = wanting_->reserve(large_, keys_of(chain, 1), Key{});
    settle();
    advance(20 * kNsPerMs);
    EXPECT_TRUE(wanting_->is_answered(request));
    if (!wanting_->is_answered(request)) return {};
    commit(*wanting_, wanting_->reserved(request));
    return wanting_->completion(request);
  }
  void expect_refused(const Completion& answer, Cause cause, std::uint32_t pid) {
    EXPECT_EQ(answer.code, Code::kNoSpace);
    EXPECT_EQ(answer.cause, cause);
    EXPECT_EQ(answer.detail, pid);
    EXPECT_EQ(stats().evictions, 0U) << "nothing leaves when nobody gains by it";
    EXPECT_EQ(stats().blocks_ready, kBlocks);
  }
  std::string complaints() {
    std::string text;
    for (const std::string& line : store_->admin().complaints()) text += line + "\n";
    return text;
  }

  SimClient* client_ = nullptr;
  SimClient* holder_ = nullptr;
  SimClient* wanting_ = nullptr;
  SpaceId small_ = SpaceId::kNone;
  SpaceId large_ = SpaceId::kNone;
  std::vector<SimLease> leases_;
};

TEST_F(EmptyingHolders, P_03_a_lease_in_every_slab_lets_nothing_be_evicted_however_often_it_is_tried) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) lease(chain, kSlabSlots - 1);
  for (std::uint64_t i = 0; i < 20; ++i) {
    expect_refused(want(9000 + i), Cause::kPinnedBy, kHolder);
    advance(kNsPerSecond);
  }
  release_all();
  EXPECT_EQ(want().code, Code::kOk);
  EXPECT_EQ(stats().evictions, kSlabSlots);
}

TEST_F(EmptyingHolders, P_03_a_pin_in_every_slab_is_as_good_as_a_lease) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain)
    EXPECT_EQ(call(*holder_, Op::kPin, small_, {pattern_key(chain, 40)}, 60 * kNsPerSecond).count, 1U);
  expect_refused(want(), Cause::kPinnedBy, kHolder);
  end_process(*holder_);
  advance(kNsPerSecond);
  expect_refused(want(), Cause::kPinnedBy, kHolder);
  advance(60 * kNsPerSecond);
  EXPECT_EQ(want().code, Code::kOk);
}

TEST_F(EmptyingHolders, P_03_the_one_slab_without_a_holder_is_found) {
  for (const std::uint64_t chain : {0, 1, 3}) lease(chain, 13);
  EXPECT_EQ(want().code, Code::kOk);
  EXPECT_EQ(stats().evictions, kSlabSlots);
  EXPECT_EQ(count_ready(*client_, small_, keys_of(2, kSlabSlots)), 0U);
  release_all();
}

TEST_F(EmptyingHolders, P_03_who_keeps_most_slabs_is_named) {
  SimClient& other = add_client("main", 4712);
  (void)usual_space(other);
  SimLease theirs = *other.acquire(small_, pattern_key(0, 3));
  for (std::uint64_t chain = 1; chain < kSlabs; ++chain) lease(chain, 5);
  expect_refused(want(), Cause::kPinnedBy, kHolder);
  SimClient::release(theirs);
  release_all();
}

TEST_F(EmptyingHolders, P_03_blocks_being_written_in_every_slab_name_their_writer) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) {
    const EvictTarget last{.filter = {}, .key_prefix = to_hex(pattern_key(chain, kSlabSlots - 1))};
    EXPECT_EQ(store_->admin().evict(last, {}, 1000).evicted, 1U);
  }
  const std::vector<Reservation> open = reserve(*client_, small_, keys_of(100, kSlabs));
  ASSERT_EQ(holds_of(open).size(), kSlabs);
  const Completion answer = want();
  EXPECT_EQ(answer.code, Code::kNoSpace);
  EXPECT_EQ(answer.cause, Cause::kWriterBusy);
  EXPECT_EQ(answer.detail, 1000U);
  EXPECT_EQ(stats().blocks_ready, kBlocks - kSlabs);
  EXPECT_EQ(stats().evictions, 0U);
  client_->abort(holds_of(open));
  settle();
}

TEST_F(EmptyingHolders, P_03_a_holder_below_in_another_slab_counts) {
  // Each slab's chain becomes the continuation of the one before it.
  for (std::uint64_t chain = 1; chain < kSlabs; ++chain)
    (void)reserve(*client_, small_, keys_of(chain, 1), false, pattern_key(chain - 1, kSlabSlots - 1));
  lease(kSlabs - 1, kSlabSlots / 2);
  expect_refused(want(), Cause::kPinnedBy, kHolder);
  release_all();
  advance(kNsPerSecond);
  EXPECT_EQ(want().code, Code::kOk);
}

TEST_F(EmptyingHolders, P_03_a_lease_that_comes_in_the_middle_stops_it) {
  const std::uint32_t request = wanting_->reserve(large_, keys_of(9000, 1), Key{});
  deliver();
  std::optional<Emptying>& job = store_->state().emptying;
  while (job.has_value() && job->is_looking) (void)store_->do_work();
  ASSERT_TRUE(job.has_value());
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) lease(chain, 10);
  settle();
  advance(20 * kNsPerMs);
  ASSERT_TRUE(wanting_->is_answered(request));
  EXPECT_EQ(wanting_->completion(request).cause, Cause::kPinnedBy);
  EXPECT_EQ(wanting_->completion(request).detail, kHolder);
  EXPECT_LT(stats().evictions, kSlabSlots) << "one slab's blocks at most";
  const std::uint64_t evicted = stats().evictions;
  for (std::uint64_t i = 0; i < 5; ++i) {
    advance(kNsPerSecond);
    EXPECT_EQ(want(9100 + i).cause, Cause::kPinnedBy);
  }
  EXPECT_EQ(stats().evictions, evicted);
  release_all();
}

TEST_F(EmptyingHolders, P_03_another_namespace_gets_nothing_and_nothing_is_evicted_for_it) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) lease(chain, 7);
  SimClient& poor = add_client("poor");
  const SpaceId space = usual_space(poor);
  for (std::uint64_t i = 0; i < 5; ++i) {
    (void)reserve(poor, space, keys_of(300 + i, 1));
    expect_refused(last_completion_, Cause::kPinnedBy, kHolder);
    advance(kNsPerSecond);
  }
  release_all();
  EXPECT_EQ(holds_of(reserve(poor, space, keys_of(400, 1))).size(), 1U);
}

TEST_F(EmptyingHolders, another_block_size_gives_when_the_coldest_one_cannot) {
  // All but one slab of small blocks is held; a slab of medium blocks is free to leave.
  EXPECT_EQ(want().code, Code::kOk);
  const std::uint64_t evicted = stats().evictions;
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) {
    if (holder_->match(small_, pattern_key(chain, 1)) == 1) lease(chain, 1);
  }
  clock_.advance(10 * kNsPerSecond);
  const SpaceId medium = client_->register_space(encoded_spec("medium", 2 * kBlock));
  const std::uint32_t request = client_->reserve(medium, keys_of(500, 1), Key{});
  settle();
  ASSERT_TRUE(client_->is_answered(request));
  EXPECT_EQ(client_->completion(request).code, Code::kOk);
  EXPECT_EQ(stats().evictions, evicted + 1) << "the one large block";
  client_->abort(holds_of(client_->reserved(request)));
  release_all();
}

TEST_F(EmptyingHolders, an_administrator_is_told_who_keeps_every_slab_once_it_lasts) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) lease(chain, 2);
  (void)want();
  EXPECT_EQ(complaints(), "") << "a lease lasts milliseconds";
  advance(2 * kNsPerSecond);
  (void)want();
  const std::string text = complaints();
  EXPECT_NE(text.find("pid 4711 (sim) keeps a block in 4 of 4 slabs"), std::string::npos) << text;
  release_all();
  advance(kNsPerSecond);
  EXPECT_EQ(want().code, Code::kOk);
  EXPECT_EQ(complaints(), "");
}

TEST_F(EmptyingHolders, the_complaint_ends_when_nobody_wants_room_any_more) {
  for (std::uint64_t chain = 0; chain < kSlabs; ++chain) lease(chain, 2);
  (void)want();
  advance(2 * kNsPerSecond);
  (void)want();
  EXPECT_NE(complaints(), "");
  advance(10 * kNsPerSecond);
  EXPECT_EQ(complaints(), "");
  release_all();
}

}  // namespace
}  // namespace kvtier::test
