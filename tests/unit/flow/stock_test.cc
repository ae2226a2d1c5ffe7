// Stocks: slots granted ahead of need, which get their key with the commit.

#include "daemon/flow/admin.h"
#include "daemon/flow/state.h"
#include "tests/unit/flow/stock_fixture.h"

namespace kvtier::test {
namespace {

TEST_F(StockFlow, a_block_is_made_without_a_request) {
  client_->refill(space_, 4);
  ASSERT_EQ(offered(*client_), 4U);
  EXPECT_EQ(stats().slots_stocked, 4U);
  EXPECT_EQ(stats().blocks_writing, 0U);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 2));
  EXPECT_EQ(client_->match(space_, pattern_key(1, 0)), 0) << "claimed by nobody before the commit";
  client_->commit(holds_of(taken));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 2)), 2U);
  expect_exact(*client_->acquire(space_, pattern_key(1, 1)));
  EXPECT_EQ(stats().slots_stocked, 2U);
  EXPECT_EQ(stats().commits, 2U);
  EXPECT_EQ(stats().reserve_new, kSlots) << "of the set-up";
}

TEST_F(StockFlow, a_refill_brings_the_offers_up_to_the_number_asked_for) {
  const auto* header = reinterpret_cast<const ChannelHeader*>(client_->channel());
  client_->refill(space_, 3);
  client_->refill(space_, 3);
  EXPECT_EQ(offered(*client_), 3U);
  (void)take(*client_, keys_of(1, 2));
  client_->refill(space_, 3);
  EXPECT_EQ(offered(*client_), 3U);
  EXPECT_EQ(stats().slots_stocked, 5U);
  EXPECT_EQ(header->stock_refills.load(), 3U);
}

TEST_F(StockFlow, blocks_of_a_stock_stand_below_their_parents) {
  put(*client_, space_, keys_of(1, 1));
  client_->refill(space_, 4);
  client_->commit(holds_of(take(*client_, keys_of(1, 3, 1), pattern_key(1, 0))));
  const StoreState& state = store_->state();
  for (std::uint64_t i = 1; i < 4; ++i) {
    const BlockId id = store_->state().index->find(NamespaceId{0}, space_, pattern_key(1, i));
    ASSERT_NE(id, BlockId::kNone);
    ASSERT_NE(state.blocks[id].parent, BlockId::kNone);
    EXPECT_EQ(state.blocks[state.blocks[id].parent].key, pattern_key(1, i - 1));
  }
}

TEST_F(StockFlow, a_lost_race_shows_at_the_commit_and_the_slot_comes_back) {
  client_->refill(space_, 3);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 3));
  SimClient& other = add_other();
  const std::uint32_t request = other.reserve(space_, keys_of(1, 2), {});
  settle();
  const std::vector<Reservation> claimed = other.reserved(request);
  ASSERT_EQ(holds_of(claimed).size(), 2U);
  other.fill(claimed[0]);
  other.commit({claimed[0].result.hold});
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kExists, Code::kPending, Code::kOk}));
  EXPECT_EQ(stats().stock_races_lost, 2U);
  EXPECT_EQ(stats().slots_stocked, 0U);
  EXPECT_EQ(client_->match(space_, pattern_key(1, 1)), 2) << "the claim stands";
  other.abort({claimed[1].result.hold});
  deliver();
  EXPECT_EQ(stats().slots_free, kSlots - 2);
}

TEST_F(StockFlow, a_key_twice_is_there_once_and_no_key_is_invalid) {
  client_->refill(space_, 3);
  const std::vector<Reservation> taken = take(*client_, {pattern_key(1, 0), pattern_key(1, 0), Key{}});
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kOk, Code::kExists, Code::kInvalid}));
  EXPECT_EQ(stats().slots_free, kSlots - 1);
  EXPECT_EQ(client_->match(space_, Key{}), 0);
}

TEST_F(StockFlow, a_hold_of_the_stock_ends_once) {
  client_->refill(space_, 2);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 2));
  client_->abort({taken[0].result.hold});
  deliver();
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kInvalid, Code::kOk}));
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kInvalid, Code::kInvalid}));
  EXPECT_EQ(stats().slots_free, kSlots - 1);
}

TEST_F(StockFlow, stocks_are_capped) {
  client_->refill(space_, kStockEntries);
  EXPECT_EQ(offered(*client_), kMost);
  SimClient& other = add_other();
  other.refill(space_, 4);
  EXPECT_EQ(offered(other), 0U) << "all stocks of a class together";
  client_->refill(space_, kStockEntries + 1);
  EXPECT_FALSE(client_->is_ended());
  deliver();
  EXPECT_TRUE(client_->is_ended()) << "more than there are entries is not the protocol's";
}

// More slots than the table has entries.
class StockOfTwoSpaces : public StoreFixture {};

TEST_F(StockOfTwoSpaces, neither_keeps_the_table_from_the_other) {
  make_store(16 * kStockEntries);
  SimClient& client = add_client();
  const SpaceId first = usual_space(client);
  const SpaceId second = client.register_space(encoded_spec("n", kBlock));
  client.abort(holds_of(reserve(client, first, keys_of(1, 16 * kStockEntries), true)));
  deliver();
  client.refill(first, kStockEntries);
  ASSERT_EQ(client.stock().offered_count(first), kStockEntries);
  client.refill(second, 4);
  EXPECT_EQ(client.stock().offered_count(second), 4U) << "no more than it asked for";
  client.refill(second, kStockEntries);
  client.refill(first, kStockEntries);
  EXPECT_EQ(client.stock().offered_count(first), kStockEntries / 2);
  EXPECT_EQ(client.stock().offered_count(second), kStockEntries / 2);
}

TEST_F(StockFlow, a_refill_asks_nobody_else_for_memory) {
  put(*client_, space_, keys_of(1, kSlots));
  SimClient& other = add_other();
  other.refill(space_, 4);
  EXPECT_EQ(offered(other), 0U) << "every slab is another's";
  EXPECT_EQ(stats().slab_revokes, 0U);
  client_->refill(space_, 4);
  EXPECT_EQ(offered(*client_), 4U) << "its own coldest";
  EXPECT_EQ(stats().evictions, 4U);
}

TEST_F(StockFlow, whoever_may_not_write_and_a_space_that_is_not_there_get_nothing) {
  SessionRequest request;
  request.namespace_name = "main";
  request.is_read_only = true;
  const SessionGrant reader = store_->session_open(request).value();
  Submission ask{};
  ask.op = Op::kStock;
  ask.space = space_;
  ask.count = 2;
  store_->submit(reader.session, ask);
  EXPECT_EQ(Stock(reader.channel + ChannelLayout::kStock).offered_count(space_), 0U);
  client_->refill(SpaceId{77}, 2);
  EXPECT_EQ(stats().slots_stocked, 0U);
  EXPECT_TRUE(store_->outbox().empty());
  store_->session_exited(reader.session);
}

// ---- memory is short ----

TEST_F(StockFlow, offers_come_back_before_anybody_gets_no_space) {
  client_->refill(space_, kMost);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 2));
  const std::vector<Reservation> rest = reserve(*client_, space_, keys_of(2, kSlots - kMost), true);
  ASSERT_EQ(holds_of(rest).size(), kSlots - kMost) << "nothing is free or evictable now";
  const std::vector<Reservation> more = reserve(*client_, space_, keys_of(3, kMost));
  EXPECT_EQ(holds_of(more).size(), kMost - 2) << "all but what the client has taken";
  EXPECT_EQ(stats().stock_returns, kMost - 2);
  EXPECT_EQ(last_completion_.cause, Cause::kWriterBusy) << "its own: the rest is reserved";
  EXPECT_EQ(last_completion_.detail, 4711U);
  EXPECT_EQ(offered(*client_), 0U);
  EXPECT_FALSE(client_->take(space_, pattern_key(9, 9), {}).has_value());
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kOk, Code::kOk}));
}

TEST_F(StockFlow, offers_and_evictions_together_make_room_for_all_or_nothing) {
  client_->refill(space_, kMost);
  put(*client_, space_, keys_of(1, kSlots - kMost));
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(2, kSlots), true)).size(), kSlots);
}

TEST_F(StockFlow, leases_are_blamed_only_when_stocks_are_empty) {
  client_->refill(space_, 2);
  put(*client_, space_, keys_of(1, kSlots - 2));
  for (const Key& key : keys_of(1, kSlots - 2)) ASSERT_TRUE(client_->acquire(space_, key).has_value());
  EXPECT_EQ(holds_of(reserve(*client_, space_, keys_of(2, 3))).size(), 2U);
  EXPECT_EQ(last_completion_.cause, Cause::kPinnedBy);
}

TEST_F(StockFlow, a_slab_that_only_a_stock_keeps_goes_to_another_writer) {
  put(*client_, space_, keys_of(1, kSlots));
  client_->refill(space_, kMost);
  answers_revocations_ = false;
  SimClient& other = add_other();
  const std::uint32_t request = other.reserve(space_, keys_of(2, 1), {});
  deliver();
  ASSERT_FALSE(other.is_answered(request));
  answers_revocations_ = true;
  settle();
  ASSERT_TRUE(other.is_answered(request)) << "nobody waited for a deadline";
  EXPECT_EQ(other.completion(request).count, 1U);
}

TEST_F(StockFlow, a_stopped_client_loses_its_offers_without_being_asked) {
  client_->refill(space_, kMost);
  put(*client_, space_, keys_of(1, kSlots - kMost));
  for (const Key& key : keys_of(1, kSlots - kMost)) ASSERT_TRUE(client_->acquire(space_, key).has_value());
  answers_revocations_ = false;  // from here on it does not run
  SimClient& other = add_other();
  const std::uint32_t request = other.reserve(space_, keys_of(2, 1), {});
  settle();
  EXPECT_GT(stats().stock_returns, 0U) << "a slab is asked back, the offers in it are not";
  advance(20 * kNsPerMs);
  EXPECT_EQ(stats().stock_returns, kMost);
  EXPECT_EQ(other.completion(request).cause, Cause::kWriterBusy) << "for the slabs: they are still its own";
}

TEST_F(StockFlow, a_namespace_beyond_its_limit_gives_up_its_stock) {
  client_->refill(space_, kMost);
  store_->namespace_limit("main", 4 * kBlock);
  advance(2 * kNsPerSecond);
  settle();
  EXPECT_EQ(stats().slabs_assigned, 1U);
  EXPECT_LE(stats().slots_stocked, 4U);
}

TEST_F(StockFlow, another_namespace_and_another_size_get_slabs_that_hold_only_stock) {
  client_->refill(space_, kMost);
  const SpaceId large = client_->register_space(encoded_spec("large", 4 * kBlock));
  EXPECT_EQ(holds_of(reserve(*client_, large, keys_of(5, kSlots / 4), true)).size(), kSlots / 4);
  EXPECT_EQ(stats().slots_stocked, 0U);
}

TEST_F(StockFlow, a_new_namespace_gets_its_share_of_one_that_holds_only_stock_and_free_slots) {
  client_->refill(space_, kMost);
  SimClient& other = add_client("other");
  const SpaceId theirs = usual_space(other);
  const std::uint32_t request = other.reserve(theirs, keys_of(5, 4), {}, true);
  settle();
  ASSERT_TRUE(other.is_answered(request));
  EXPECT_EQ(other.completion(request).count, 4U);
}

// The last slab holds two offers and two free slots; all others are full of blocks.
class StockAndFreeSlots : public StockFlow {
 protected:
  void SetUp() override {
    StockFlow::SetUp();
    put(*client_, space_, keys_of(1, kSlots - 4));
    client_->refill(space_, 2);
  }
};

TEST_F(StockAndFreeSlots, give_their_slab_to_a_limit_before_any_block_is_evicted) {
  store_->namespace_limit("main", (kSlots - 4) * kBlock);
  settle();
  EXPECT_EQ(stats().slabs_assigned, kSlots / 4 - 1);
  EXPECT_EQ(stats().evictions, 0U);
}

TEST_F(StockAndFreeSlots, give_their_slab_to_another_size_before_any_block_is_evicted) {
  const SpaceId large = client_->register_space(encoded_spec("large", 4 * kBlock));
  EXPECT_EQ(holds_of(reserve(*client_, large, keys_of(5, 1))).size(), 1U);
  EXPECT_EQ(stats().evictions, 0U);
}

// ---- ends ----

TEST_F(StockFlow, an_invalidated_spec_loses_its_stock) {
  client_->refill(space_, 4);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 1));
  const SpaceId second = client_->register_space(encoded_spec("n", kBlock));
  client_->refill(second, 2);
  EXPECT_EQ(call(*client_, Op::kInvalidate, space_, {}).count, 0U) << "there was no block";
  EXPECT_EQ(offered(*client_), 0U);
  EXPECT_EQ(client_->stock().offered_count(second), 2U);
  EXPECT_EQ(stats().slots_quarantined, 1U);
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kStale}));
  EXPECT_EQ(stats().slots_free, kSlots - 2);
  client_->refill(space_, 1);
  client_->commit(holds_of(take(*client_, keys_of(1, 1))));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(1, 1)), 1U);
}

TEST_F(StockFlow, a_commit_while_its_spec_is_being_invalidated_is_stale) {
  client_->refill(space_, 1);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 1));
  (void)client_->simple(Op::kInvalidate, space_, {});  // begun, not done
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kStale}));
  client_->refill(space_, 2);
  EXPECT_EQ(offered(*client_), 0U) << "a spec that is leaving takes no blocks";
  settle();
}

TEST_F(StockFlow, R_08_the_stock_of_a_dead_client_comes_back) {
  client_->refill(space_, 4);
  (void)take(*client_, keys_of(1, 2));
  end_process(*client_);
  EXPECT_EQ(stats().slots_stocked, 0U);
  EXPECT_EQ(stats().slots_free, kSlots);
}

TEST_F(StockFlow, a_hang_up_frees_what_is_on_offer_and_quarantines_the_rest) {
  client_->refill(space_, 4);
  const std::vector<Reservation> taken = take(*client_, keys_of(1, 1));
  store_->session_hang_up(client_->session());
  EXPECT_EQ(stats().slots_free, kSlots - 1);
  EXPECT_EQ(stats().slots_quarantined, 1U);
  EXPECT_FALSE(client_->take(space_, pattern_key(1, 1), {}).has_value());
  const SessionGrant own = client_->grant();
  const Result<SessionGrant> again =
      store_->session_resume(own.session_id, own.secret, {.namespace_name = "main"});
  ASSERT_TRUE(again.is_ok());
  client_->resume(*store_, again.value());
  EXPECT_EQ(commit_codes(*client_, taken), (std::vector{Code::kStale})) << "lost, and known";
  settle();
  EXPECT_EQ(stats().slots_free, kSlots);
  client_->refill(space_, 4);
  client_->commit(holds_of(take(*client_, keys_of(2, 4))));
  EXPECT_EQ(count_ready(*client_, space_, keys_of(2, 4)), 4U);
}

TEST_F(StockFlow, an_ended_session_loses_its_stock) {
  client_->refill(space_, 4);
  ASSERT_TRUE(store_->admin().kick({client_->grant().session_id, KickTarget::Kind::kSession}).is_ok());
  store_->session_hang_up(client_->session());  // what the session layer does when it has delivered that
  EXPECT_EQ(stats().slots_stocked, 0U);
  EXPECT_EQ(stats().slots_free, kSlots);
}

// ---- what the channel says is a client's word ----

TEST_F(StockFlow, any_word_in_the_table_costs_its_client_alone) {
  client_->refill(space_, kMost);
  auto* entries = reinterpret_cast<StockEntry*>(client_->channel() + ChannelLayout::kStock);
  for (std::uint32_t i = 0; i < kStockEntries; ++i) {
    entries[i].word.store(~std::uint64_t{i} << (i % 3 * 16));
    entries[i].grant = {SlotRef{~0U}, ~0U, {~0U - i, ~0U}, ~0ULL};
    entries[i].name = {pattern_key(7, i), pattern_key(7, i)};
  }
  client_->refill(space_, kMost);
  (void)call(*client_, Op::kInvalidate, space_, {});
  EXPECT_EQ(stats().slots_quarantined, kMost) << "a word that says nothing known may be a writer's";
  SimClient& other = add_other();
  put(other, space_, keys_of(1, 1));
  end_process(*client_);
  EXPECT_EQ(stats().slots_free, kSlots - 1);
}

}  // namespace
}  // namespace kvtier::test
